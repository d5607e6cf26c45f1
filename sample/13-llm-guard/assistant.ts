import { ForbiddenException, Injectable } from '@nestjs/common';
import { Args, InterceptorChainRunner, Tool, type ChainResult } from 'nestjs-mcp';
import { Model, type Message } from './model.js';

@Injectable()
export class Assistant {
  constructor(
    private readonly model: Model,
    private readonly chain: InterceptorChainRunner,
  ) {}

  @Tool({ description: 'Asks the language model' })
  async ask(@Args('question') question: string) {
    const asked = { messages: [{ role: 'user', content: question }] };
    // What is sent is mutated, then validated; what comes back is validated, then mutated.
    const request = allowed(await this.chain.run('llm/completion', 'request', asked, { direction: 'send' }));
    const answer = await this.model.complete((request as typeof asked & { messages: Message[] }).messages);
    const response = await this.chain.run('llm/completion', 'response', answer, {
      direction: 'receive',
      request,
    });
    return (allowed(response) as Message).content;
  }
}

function allowed({ status, finalPayload, abortedAt }: ChainResult): unknown {
  if (status === 'success') return finalPayload;
  throw new ForbiddenException(`The model was not asked: ${abortedAt?.reason}`);
}
