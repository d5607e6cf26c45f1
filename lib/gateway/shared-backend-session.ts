import type { Client } from '@modelcontextprotocol/client';
import type { ServerSession, ServerSessionShare } from '../connection/server-session.js';
import type { SharedChannel } from '../protocol/mcp-call.js';

/** A client's session with a 2025-era backend, which the nodes that serve the client use in turn. */
export class SharedBackendSession implements ServerSessionShare {
  /** The session that this node knows, as JSON. */
  private known?: string;

  /** @param isOnly whether the gateway has no other backend, so that all resources are of this one */
  constructor(
    private readonly channel: SharedChannel,
    private readonly backend: string,
    private readonly isOnly: boolean,
  ) {}

  get isListening(): boolean {
    return this.channel.isHome;
  }

  get isOver(): boolean {
    return this.channel.isOver;
  }

  async find(): Promise<ServerSession | undefined> {
    const json = (this.known = await this.channel.read(this.backend));
    return json === undefined ? undefined : (JSON.parse(json) as ServerSession);
  }

  async offer(session: ServerSession, client: Client): Promise<boolean> {
    const isOurs = await this.replace(JSON.stringify(session));
    if (isOurs && this.isOnly) await this.subscribe(client);
    return isOurs;
  }

  async lost(id: string): Promise<void> {
    if ((await this.find())?.id === id) await this.replace(undefined);
  }

  /** Subscribes again where other nodes have subscribed on an earlier session. A refusal changes nothing. */
  private async subscribe(client: Client): Promise<void> {
    const uris = [...this.channel.subscribed];
    await Promise.allSettled(uris.map(uri => client.subscribeResource({ uri })));
  }

  private replace(json: string | undefined): Promise<boolean> {
    return this.channel.replace(this.backend, this.known, json);
  }
}
