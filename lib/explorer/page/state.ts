import type { CallerView, Caller, CatalogueServer, Chains, ServerChain } from '../api.js';
import { get, post } from './client.js';

/** What the header has chosen: every view obeys it. */
export class State {
  private lists?: Promise<CallerView>;

  constructor(
    readonly server: CatalogueServer,
    readonly caller: Caller,
    readonly revision: string,
    /** The end of a path that chooses a part of the server. */
    readonly part: string,
  ) {}

  get callerText(): string {
    const { caller } = this;
    if (caller.kind !== 'synthetic') return caller.kind === 'token' ? 'Token' : 'Anonymous';
    const names = [...caller.scopes, ...caller.roles.map(role => `role ${role}`)];
    return names.length > 0 ? names.join(', ') : 'Synthetic, without scopes';
  }

  /** The lists as this caller gets them, asked for once. */
  callerView(): Promise<CallerView> {
    const { server, caller, revision, part } = this;
    return (this.lists ??= post<CallerView>('callers', { server: server.name, caller, revision, part }));
  }

  /** The chain with its current counters. */
  async chain(): Promise<ServerChain | undefined> {
    const { servers } = await get<Chains>('chain');
    return servers.find(({ server }) => server === this.server.name);
  }
}
