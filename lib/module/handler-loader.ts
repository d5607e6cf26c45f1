import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Entry } from '../catalog/entries.js';
import { HandlerExplorer, type DiscoveredHandler } from '../catalog/explorer.js';
import { HandlerCompiler } from '../catalog/handler-compiler.js';
import { HandlerExecutor } from '../execution/handler-executor.js';
import { describeTarget } from '../execution/handler-target.js';
import { InterceptorLoader } from './interceptor-loader.js';
import {
  assertCompletes,
  assertGatewayProtected,
  assertOffered,
  assertProtected,
  claimOptions,
} from './entry-checks.js';
import { McpServers } from './mcp-servers.js';
import type { ServerDraft } from './server-draft.js';

/** Finds and compiles all decorated handlers, then builds the servers, once, while the application starts. */
@Injectable()
export class HandlerLoader implements OnModuleInit {
  private readonly logger = new Logger('McpModule');

  constructor(
    private readonly explorer: HandlerExplorer,
    private readonly compiler: HandlerCompiler,
    private readonly servers: McpServers,
    private readonly interceptors: InterceptorLoader,
    private readonly executor: HandlerExecutor,
  ) {}

  /** @throws McpBootstrapError that lists all mistakes; it is also logged */
  async onModuleInit(): Promise<void> {
    const { servers, interceptors } = this;
    const { mistakes } = servers;
    // A server or a protection that does not exist because its options are wrong is not a second mistake.
    const areOptionsRight = mistakes.none;
    await this.compile(areOptionsRight);
    await this.loadExtensions();
    if (areOptionsRight) await this.check();
    await mistakes.collect(async () => {
      const misplaced = await interceptors.misplaced(new Set([...servers.names, ...servers.clients]));
      if (areOptionsRight) mistakes.add(...misplaced);
    });
    // The next steps open connections, for which the application must be sound.
    this.assertNone();
    for (const draft of servers.drafts()) await mistakes.collect(() => this.build(draft));
    await servers.start();
    this.assertNone();
    mistakes.close();
  }

  private async compile(areOptionsRight: boolean): Promise<void> {
    const { mistakes } = this.servers;
    mistakes.add(...this.explorer.unprovided());
    for (const handler of this.explorer.explore()) {
      await mistakes.collect(async () => {
        const entry = await this.compiler.compile(handler);
        if (!areOptionsRight) return;
        for (const draft of this.draftsOf(handler)) draft.table.add(entry);
      });
    }
    for (const draft of areOptionsRight ? this.servers.drafts() : []) {
      if (draft.options.routes) await mistakes.collect(() => this.choose(draft));
    }
  }

  private async choose(draft: ServerDraft): Promise<void> {
    const { chooseRoutes } = await import('./choose-routes.js');
    await chooseRoutes(draft, this.explorer, this.compiler);
  }

  private async loadExtensions(): Promise<void> {
    const declared = this.explorer.extensions();
    if (declared.size === 0) return;
    const { ExtensionLoader } = await import('./extension-loader.js');
    await new ExtensionLoader(this.executor, this.servers, this.explorer).load(declared);
  }

  private async check(): Promise<void> {
    const { mistakes } = this.servers;
    // A completion of a handler that was not compiled is not a second mistake.
    const isWhole = mistakes.none;
    const known = mistakes.count;
    this.servers.createExtensions();
    const isExtended = mistakes.count === known;
    for (const draft of this.servers.drafts()) {
      if (isExtended) await mistakes.collect(() => assertGatewayProtected(draft));
      for (const { methods = {} } of isExtended ? draft.extensions : []) {
        for (const [method, { where = method, requirement }] of Object.entries(methods)) {
          await mistakes.collect(() => assertProtected({ where, requirement }, draft));
        }
      }
      for (const entry of draft.table.enabled()) {
        if (!(await mistakes.collect(() => assertOffered(entry, draft)))) continue;
        if (isWhole) await mistakes.collect(() => assertCompletes(entry, draft));
        if (!isExtended) continue;
        await mistakes.collect(() => assertProtected(entry, draft));
        await mistakes.collect(() => claimOptions(entry, draft));
      }
    }
  }

  private async build(draft: ServerDraft): Promise<void> {
    const extension = await this.interceptors.extensionOf(draft.options);
    if (extension)
      draft.extend(extension, `McpModule.forRoot({ name: ${JSON.stringify(draft.options.name)} })`);
    const server = draft.build();
    if ([...draft.table.enabled()].some(asks)) await server.rounds.load();
  }

  private assertNone(): void {
    const error = this.servers.mistakes.error();
    if (!error) return;
    this.logger.error(error.message);
    throw error;
  }

  private draftsOf({ metadata, target, featureServers }: DiscoveredHandler): ServerDraft[] {
    const { server } = metadata.options;
    const names = server === undefined && featureServers.length > 0 ? featureServers : [server];
    return names.map(name => this.servers.require(name, describeTarget(target)));
  }
}

/** Whether the signature of a handler shows that it can ask its client. */
const asks = ({ run }: Entry): boolean =>
  run.plan.params.some(({ kind }) => kind === 'ask' || kind === 'context');
