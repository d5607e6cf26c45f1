import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Args, InterceptorChainRunner, Tool } from 'nestjs-mcp';

@Injectable()
export class Shop implements OnModuleInit {
  constructor(private readonly runner: InterceptorChainRunner) {}

  /** Prints what each interceptor did, and where it ran. */
  onModuleInit() {
    this.runner.reports$.subscribe(({ result: { event, phase, results } }) => {
      for (const { host, interceptor, outcome } of results) {
        console.log(`  ${event} ${phase}: ${host}/${interceptor} ${outcome}`);
      }
    });
  }

  @Tool({ description: 'Searches the catalogue' })
  search(@Args('query') query: string) {
    return `1 result for ${query}, ask sales@example.com`;
  }
}
