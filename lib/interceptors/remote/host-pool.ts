import { problemOf, sentenceOf } from '../../options/check-options.js';
import { HOST } from './check-server.js';
import type { InterceptorServerOptions } from './host-options.js';
import { openHost } from './open-host.js';
import { DiscoveryError, type OpenHostOptions, type RemoteHost } from './remote-host.js';
import { hash } from 'node:crypto';
import { isPlain } from '../../util/is-record.js';

/** Maximum open hosts that are kept for callers. Past it, the least recently used host is closed. */
const MAX_HOSTS = 100;
/**
 * While all hosts are in use, this many times the maximum may be open. Past it, a message that needs another host is
 * refused.
 */
const MAX_OVERFLOW = 2;

interface Slot {
  readonly opening: Promise<RemoteHost>;
  host?: RemoteHost;
  users: number;
}

/** Hosts that are chosen for each message. Callers with the same host share its connection. */
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
      return (slot.host ??= await slot.opening);
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
        `The host "${options.name}" cannot be opened, because all ${this.open.size} open hosts are in use; return fewer different hosts from "interceptors.resolveServers"`,
      );
    }
    return { opening: openHost(options, { ...this.options, id }), users: 0 };
  }

  /** Closes unused hosts until there is room. Hosts in use by a message or a sink stay open. */
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
    host => host.close(),
    () => undefined,
  );

const ids = new WeakMap<object, number>();
let lastId = 0;

/** Identifies a function or an instance, which is equal only to itself. */
function identityOf(value: object): number {
  const id = ids.get(value) ?? ++lastId;
  ids.set(value, id);
  return id;
}

/** Identifies a host by all its options, so that callers with different options never share a connection. */
export function hostIdOf(options: InterceptorServerOptions): string {
  const { client, invoker, ...written } = options as { client?: object; invoker?: object };
  const ready = [client, invoker].map(one => one && identityOf(one));
  return hash('sha256', JSON.stringify([ready, written], canonical), 'base64');
}

function canonical(_key: string, value: unknown): unknown {
  if (typeof value === 'function') return { identity: identityOf(value) };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (!isPlain(value)) return { identity: identityOf(value) };
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

export class HostLease {
  private readonly held: (() => void)[] = [];
  private isOver = false;

  hold(letGo: () => void): void {
    if (this.isOver) letGo();
    else this.held.push(letGo);
  }

  readonly end = (): void => {
    this.isOver = true;
    for (const letGo of this.held.splice(0)) letGo();
  };
}
