import type { ServerSession, ServerSessionShare } from '../connection/server-session.js';
import type { SharedChannel } from '../protocol/mcp-call.js';

/** A client's session with a 2025-era backend, which the nodes that serve the client use in turn. */
export class SharedBackendSession implements ServerSessionShare {
  /** The session that this node knows, as JSON. */
  private known?: string;

  constructor(
    private readonly channel: SharedChannel,
    private readonly backend: string,
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

  offer(session: ServerSession): Promise<boolean> {
    return this.replace(JSON.stringify(session));
  }

  async lost(id: string): Promise<void> {
    if ((await this.find())?.id === id) await this.replace(undefined);
  }

  private replace(json: string | undefined): Promise<boolean> {
    return this.channel.replace(this.backend, this.known, json);
  }
}
