import { problemOf, sentenceOf } from '../../options/check-options.js';
import { HOST } from './check-server.js';
import { hostIdOf } from './host-id.js';
import type { HostLease } from './host-lease.js';
import type { InterceptorServerOptions } from './host-options.js';
import { openHost, type OpenedHost } from './open-host.js';
import { DiscoveryError, type OpenHostOptions, type RemoteHost } from './remote-host.js';

/** The most hosts that are kept open for callers; past it, the one that was used longest ago is closed. */
const MAX_HOSTS = 100;
/** How many times as many may be open while all of them are in use; past it, a message that needs another is refused. */
const MAX_OVERFLOW = 2;

interface Slot {
  readonly opening: Promise<OpenedHost>;
  host?: RemoteHost;
  users: number;
}

/** Hosts that are chosen for each message: one connection for all callers that are given the same one. */
export class HostPool {
  private readonly open = new Map<string, Slot>();

  constructor(
    private readonly options: OpenHostOptions,
    private readonly maxHosts = MAX_HOSTS,
  ) {}

  async get(options: InterceptorServerOptions, lease: HostLease): Promise<RemoteHost> {
    const problem = problemOf(HOST, options, ['resolveServers']);
    if (problem) throw new DiscoveryError(`interceptors: ${sentenceOf(problem)}`);
    const id = hostIdOf(options);
    const slot = this.open.get(id) ?? this.openSlot(id, options);
    this.open.delete(id);
    this.open.set(id, slot);
    slot.users++;
    lease.hold(() => slot.users--);
    try {
      return (slot.host ??= (await slot.opening).host);
    } catch (error) {
      if (this.open.get(id) === slot) this.open.delete(id);
      throw error;
    }
  }

  async close(): Promise<void> {
    const all = [...this.open.values()];
    this.open.clear();
    await Promise.all(all.map(close));
  }

  private openSlot(id: string, options: InterceptorServerOptions): Slot {
    this.makeRoom();
    if (this.open.size >= this.maxHosts * MAX_OVERFLOW) {
      throw new DiscoveryError(
        `All ${this.open.size} hosts that can be open are in use: "${options.name}" is one more`,
      );
    }
    return { opening: openHost(options, { ...this.options, id }), users: 0 };
  }

  /** Those that a message uses, or a sink that nobody waits for, are left alone until the next one is opened. */
  private makeRoom(): void {
    for (const [id, slot] of this.open) {
      if (this.open.size < this.maxHosts) return;
      if (slot.users > 0 || slot.host?.isBusy) continue;
      this.open.delete(id);
      void close(slot);
    }
  }
}

const close = ({ opening }: Slot): Promise<void> =>
  opening.then(
    opened => opened.close(),
    () => undefined,
  );
