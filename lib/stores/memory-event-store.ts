import type { RequestId } from '@modelcontextprotocol/server';
import type { EventStore, OfferedMessage, StoredEvent, StreamWrite } from './event-store.js';

/** Bounds of a `MemoryEventStore`. */
export interface MemoryEventStoreOptions {
  /** Maximum events of a session. Default: 1,000. */
  readonly maxEvents?: number;
  /** Maximum characters of a session's events; its latest event may exceed them. Default: 1,048,576 (1 Mi). */
  readonly maxLength?: number;
  /**
   * Maximum characters of all events. Past it, the store drops the oldest events of the caller that holds the most.
   * Default: 67,108,864 (64 Mi).
   */
  readonly maxTotalLength?: number;
  /** Lifetime of an event, in milliseconds. Default: 300,000 (5 minutes). */
  readonly ttlMs?: number;
}

/** The name of the stream that holds the waiting messages. */
const WAITING = '';

/** The number of message keys that are kept for each session. */
const MAX_KEYS = 1000;

interface Kept extends StoredEvent {
  readonly at: number;
}

/** The events of one session, oldest first. */
interface Log {
  /** The caller that the session counts for. */
  readonly caller: string;
  events: Kept[];
  length: number;
  waiting: number;
  /** The number of the last event that the store has numbered. */
  numbered: number;
  keys?: Set<string>;
  open?: Map<string, readonly RequestId[]>;
}

/**
 * Stores events in this process. Past a bound, it drops the oldest events. A caller that fills the store loses its own
 * events, whatever the number of its sessions.
 * @example
 * ```ts
 * McpModule.forRoot({
 *   name: 'shop',
 *   version: '1.0.0',
 *   sessions: { eventStore: new MemoryEventStore({ maxEvents: 100 }) },
 * });
 * ```
 */
export class MemoryEventStore implements EventStore {
  /** Sorted by the time of the latest event, most recent last. */
  private readonly logs = new Map<string, Log>();
  private readonly bounds: Readonly<Required<MemoryEventStoreOptions>>;
  /** The length of the events of each caller that has any. */
  private readonly lengths = new Map<string, number>();
  private total = 0;

  constructor(options: MemoryEventStoreOptions = {}) {
    const { maxEvents = 1000, maxLength = 1_048_576, maxTotalLength = 67_108_864, ttlMs = 300_000 } = options;
    this.bounds = { maxEvents, maxLength, maxTotalLength, ttlMs };
  }

  /** The total length of all stored events, in characters. */
  get length(): number {
    return this.total;
  }

  async append(
    session: string,
    { stream, events, requests, isOver }: StreamWrite,
    caller?: string,
  ): Promise<void> {
    const log = this.logOf(session, caller);
    for (const event of events) this.keep(log, event);
    if (requests && isOver !== true) (log.open ??= new Map()).set(stream, requests);
    else if (isOver === true) log.open?.delete(stream);
  }

  async after(session: string, stream: string, sequence: number): Promise<readonly StoredEvent[]> {
    const log = this.logs.get(session);
    if (!log) return [];
    this.forgetOld(log);
    return log.events.filter(event => event.stream === stream && event.sequence > sequence);
  }

  async openStreams(session: string): Promise<ReadonlyMap<string, readonly RequestId[]>> {
    return this.logs.get(session)?.open ?? NO_STREAMS;
  }

  async push(
    session: string,
    stream: string,
    messages: readonly OfferedMessage[],
    caller?: string,
  ): Promise<readonly StoredEvent[]> {
    const log = this.logOf(session, caller);
    return messages
      .filter(({ key }) => isNew(log, key))
      .map(({ json }) => {
        const event = { stream, sequence: numberIn(log), json };
        this.keep(log, event);
        return event;
      });
  }

  async offer(session: string, messages: readonly OfferedMessage[], caller?: string): Promise<void> {
    const log = this.logOf(session, caller);
    for (const { json, key } of messages) {
      if (!isNew(log, key)) continue;
      log.waiting += 1;
      this.keep(log, { stream: WAITING, sequence: 0, json });
    }
  }

  async take(session: string, stream: string): Promise<readonly StoredEvent[]> {
    const log = this.logs.get(session);
    if (!log || log.waiting === 0) return NOTHING;
    this.forgetOld(log);
    const waiting = log.events.filter(event => event.stream === WAITING);
    log.events = log.events.filter(event => event.stream !== WAITING);
    log.waiting = 0;
    const at = Date.now();
    const taken = waiting.map(({ json }) => ({ stream, sequence: numberIn(log), json, at }));
    log.events.push(...taken);
    return taken;
  }

  async delete(session: string): Promise<void> {
    const log = this.logs.get(session);
    if (!log) return;
    this.count(log.caller, -log.length);
    this.logs.delete(session);
  }

  private logOf(session: string, caller = session): Log {
    const log = this.logs.get(session) ?? { caller, events: [], length: 0, waiting: 0, numbered: 0 };
    this.logs.delete(session);
    this.logs.set(session, log);
    return log;
  }

  private keep(log: Log, { stream, sequence, json }: StoredEvent): void {
    const { maxEvents, maxLength, maxTotalLength } = this.bounds;
    log.events.push({ stream, sequence, json, at: Date.now() });
    log.length += json.length;
    this.count(log.caller, json.length);
    this.forgetOld(log);
    // The latest event is kept at any length, because it may be the answer to a call.
    while (log.events.length > 1 && (log.events.length > maxEvents || log.length > maxLength))
      this.shift(log);
    while (this.total > maxTotalLength) this.shrinkLargest(maxTotalLength);
  }

  private forgetOld(log: Log): void {
    const oldest = Date.now() - this.bounds.ttlMs;
    while (log.events.length > 0 && log.events[0].at < oldest) this.shift(log);
  }

  private shift(log: Log): void {
    const { json, stream } = log.events.shift()!;
    if (stream === WAITING) log.waiting -= 1;
    log.length -= json.length;
    this.count(log.caller, -json.length);
  }

  private count(caller: string, length: number): void {
    this.total += length;
    const own = (this.lengths.get(caller) ?? 0) + length;
    if (own > 0) this.lengths.set(caller, own);
    else this.lengths.delete(caller);
  }

  /** Drops the oldest events of the caller that holds the most, until the total fits. */
  private shrinkLargest(maxTotalLength: number): void {
    let [most, length] = ['', 0];
    for (const [caller, own] of this.lengths) if (own > length) [most, length] = [caller, own];
    for (const [session, log] of this.logs) {
      while (log.caller === most && log.events.length > 0 && this.total > maxTotalLength) this.shift(log);
      if (this.total <= maxTotalLength) return;
      if (log.events.length === 0 && !log.open?.size) this.logs.delete(session);
    }
  }
}

const NOTHING: readonly StoredEvent[] = [];
const NO_STREAMS: ReadonlyMap<string, readonly RequestId[]> = new Map();

/** If the log was dropped, its numbers must not restart below the numbers that the client already has. */
const numberIn = (log: Log): number => (log.numbered = Math.max(log.numbered + 1, Date.now()));

function isNew(log: Log, key: string): boolean {
  const keys = (log.keys ??= new Set());
  if (keys.has(key)) return false;
  keys.add(key);
  if (keys.size > MAX_KEYS) keys.delete(keys.values().next().value!);
  return true;
}
