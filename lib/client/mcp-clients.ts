import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { loadSdkClient } from '../connection/sdk-client.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { RequestScope } from '../execution/request-scope.js';
import { Chain } from '../interceptors/chain/chain.js';
import type { ChainSource } from '../interceptors/chain-source.js';
import { InterceptorLoader } from '../module/interceptor-loader.js';
import { InterceptorReports } from '../interceptors/reports.js';
import { McpServers } from '../module/mcp-servers.js';
import { Traffic } from '../protocol/traffic.js';
import { resolveClientOptions, whereOf, type McpClientOptions } from './client-options.js';
import { ClientWiring } from './client-wiring.js';
import { inputHandlers } from './input-handlers.js';
import { McpClient } from './mcp-client.js';
import { tokenOf, wantedBy } from './tokens.js';

const NOTHING_APPLIES: ChainSource = { current: () => ({ chain: new Chain([]) }) };

interface Slot {
  readonly wiring: ClientWiring;
  readonly client: McpClient;
}

/**
 * All clients of the application, by name. Inject it to find a client by a name that is known at run time.
 * @example
 * ```ts
 * constructor(private readonly clients: McpClients) {}
 *
 * ask(name: string) {
 *   return this.clients.get(name)?.listTools();
 * }
 * ```
 */
@Injectable()
export class McpClients implements OnApplicationShutdown {
  private readonly slots = new Map<string, Slot>();

  /** @internal Nest makes it. */
  constructor(
    private readonly modules: ModulesContainer,
    private readonly scope: RequestScope,
    private readonly reports: InterceptorReports,
    private readonly chains: InterceptorLoader,
    private readonly servers: McpServers,
    private readonly traffic: Traffic,
  ) {
    // Not before: the interceptors are loaded when the servers start.
    servers.onStart(() => this.start());
  }

  get names(): string[] {
    return this.configured().map(({ wiring }) => wiring.name);
  }

  /** The client of that name, if there is one. */
  get(name: string): McpClient | undefined {
    const slot = this.slots.get(name);
    return slot?.wiring.options && slot.client;
  }

  /** @internal The client of that name, whose options may come later. */
  handle(name: string): McpClient {
    return this.slotOf(name).client;
  }

  /** @internal @throws McpBootstrapError for wrong options, or a second client of one name */
  register(options: McpClientOptions): void {
    const resolved = resolveClientOptions(options);
    this.slotOf(resolved.name).wiring.configure(resolved);
    this.servers.clients.add(resolved.name);
  }

  /** Closes all connections, and ends the programs that were started for them. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.slots.values()].map(({ wiring }) => wiring.close()));
  }

  private async start(): Promise<void> {
    this.assertAllWanted();
    if (this.configured().length > 0) await loadSdkClient('McpClientModule');
    const handlers = inputHandlers(this.modules, this.scope);
    for (const { client, where } of handlers) {
      if (!this.get(client)) throw new McpBootstrapError(where, this.missing(client));
    }
    for (const { wiring, client } of this.configured()) {
      const { name } = wiring;
      const { interceptors } = wiring.options!;
      const chain = await this.chains.chainFor(name, interceptors, whereOf(name));
      wiring.start({
        chain: interceptors.apply ? chain : NOTHING_APPLIES,
        handlers: handlers.filter(one => one.client === name),
        onReport: report => this.reports.publish(report),
        observer: url => this.traffic.at({ side: 'client', name, url }),
        asked: url => this.traffic.at({ side: 'server', name, url, isClient: true }),
      });
      this.provide(name, client);
    }
  }

  private provide(name: string, client: McpClient): void {
    const modules = [...this.modules.values()];
    if (modules.some(({ providers }) => providers.has(tokenOf(name)))) return;
    const own = modules.find(({ providers }) => providers.has(McpClients));
    own?.addProvider({ provide: tokenOf(name), useValue: client });
  }

  /** @throws McpBootstrapError for a name that a class injects, but no factory gave */
  private assertAllWanted(): void {
    const missing = [...this.slots.keys()].filter(name => !this.get(name));
    if (missing.length === 0) return;
    for (const { providers, controllers, injectables } of this.modules.values()) {
      for (const wrapper of [...providers.values(), ...controllers.values(), ...injectables.values()]) {
        const injects = (name: string) =>
          wantedBy(name).has(wrapper.metatype) || wrapper.inject?.includes(tokenOf(name));
        const name = missing.find(injects);
        if (name !== undefined) throw new McpBootstrapError(String(wrapper.name), this.missing(name));
      }
    }
  }

  private missing(name: string): string {
    const known = this.names.map(other => `"${other}"`).join(', ') || 'none';
    return `the MCP client "${name}" is not registered; registered clients: ${known}`;
  }

  private configured(): Slot[] {
    return [...this.slots.values()].filter(({ wiring }) => wiring.options);
  }

  private slotOf(name: string): Slot {
    const known = this.slots.get(name);
    if (known) return known;
    const wiring = new ClientWiring(name);
    const slot = { wiring, client: new McpClient(wiring) };
    this.slots.set(name, slot);
    return slot;
  }
}
