import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { loadSdkClient } from '../connection/sdk-client.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { Chain } from '../interceptors/chain/chain.js';
import type { ChainSource } from '../interceptors/chain-source.js';
import { InterceptorLoader } from '../server/interceptor-loader.js';
import { InterceptorReports } from '../interceptors/reports.js';
import { McpServers } from '../server/mcp-servers.js';
import { Traffic } from '../protocol/traffic.js';
import { assertList, resolveClientOptions, whereOf, type McpClientOptions } from './client-options.js';
import { ClientWiring } from './client-wiring.js';
import { InputHandlers } from './input-handlers.js';
import { McpClient } from './mcp-client.js';

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
    private readonly inputs: InputHandlers,
    private readonly reports: InterceptorReports,
    private readonly chains: InterceptorLoader,
    private readonly servers: McpServers,
    private readonly traffic: Traffic,
  ) {
    // Not before: the interceptors are loaded when the servers start.
    servers.onStart(() => this.start());
  }

  get names(): string[] {
    return [...this.slots.keys()];
  }

  /** The client of that name, if there is one. */
  get(name: string): McpClient | undefined {
    return this.slots.get(name)?.client;
  }

  /** @internal @throws McpBootstrapError for wrong options, or a second client of one name */
  register(clients: readonly McpClientOptions[]): void {
    assertList(clients);
    for (const options of clients) {
      const resolved = resolveClientOptions(options);
      const { name } = resolved;
      if (this.slots.has(name)) {
        throw new McpBootstrapError(
          whereOf(name),
          'another client has this name; give each client a separate "name"',
        );
      }
      const wiring = new ClientWiring(resolved);
      this.slots.set(name, { wiring, client: new McpClient(wiring) });
      this.servers.clients.add(name);
    }
  }

  /** Closes all connections, and ends the programs that were started for them. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.slots.values()].map(({ wiring }) => wiring.close()));
  }

  private async start(): Promise<void> {
    if (this.slots.size > 0) await loadSdkClient('McpClientModule');
    const handlers = this.inputs.explore();
    for (const { client, where } of handlers) {
      if (this.slots.has(client)) continue;
      const known = this.names.map(name => `"${name}"`).join(', ') || 'none';
      throw new McpBootstrapError(
        where,
        `the MCP client "${client}" is not registered; registered clients: ${known}`,
      );
    }
    for (const { wiring } of this.slots.values()) {
      const { name, interceptors } = wiring.options;
      const chain = await this.chains.chainFor(name, interceptors, whereOf(name));
      wiring.start({
        chain: interceptors.apply ? chain : NOTHING_APPLIES,
        handlers: handlers.filter(one => one.client === name),
        onReport: report => this.reports.publish(report),
        observer: url => this.traffic.at({ side: 'client', name, url }),
        asked: url => this.traffic.at({ side: 'server', name, url, isClient: true }),
      });
    }
  }
}
