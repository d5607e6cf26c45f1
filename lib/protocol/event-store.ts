/** A message on a stream of a session. */
export interface StoredEvent {
  /** Number of the stream in its session. */
  readonly stream: number;
  /** Number of the event in its stream: 1, 2, 3 … */
  readonly sequence: number;
  /** The JSON-RPC message. */
  readonly json: string;
}

/**
 * Keeps what is sent on the streams of 2025-era sessions, so that a client whose connection broke gets what it missed
 * (specification 2025-11-25: basic/transports, resumability and redelivery). A store may forget events at any time.
 */
export interface EventStore {
  /** Keeps an event. The events of a stream come in their order. */
  append(session: string, event: StoredEvent): Promise<void>;
  /** The kept events of a stream that follow an event, in their order. */
  after(session: string, stream: number, sequence: number): Promise<readonly StoredEvent[]>;
  /** Forgets the events of a session. */
  delete(session: string): Promise<void>;
}

/** Bounds of a `MemoryEventStore`. */
export interface MemoryEventStoreOptions {
  /** The most events of a session. Default: 1,000. */
  readonly maxEvents?: number;
  /** The most characters of a session's events; its latest event may have more. Default: 1,048,576 (1 Mi). */
  readonly maxLength?: number;
  /** The most characters of all events. Default: 67,108,864 (64 Mi). */
  readonly maxTotalLength?: number;
  /** How long an event is kept, in milliseconds. Default: 300,000 (5 minutes). */
  readonly ttlMs?: number;
}

interface Kept extends StoredEvent {
  readonly at: number;
}

/** The events of one session, the oldest first. */
interface Log {
  readonly events: Kept[];
  length: number;
}

/** Keeps events in this process. Past a bound, the oldest are forgotten. */
export class MemoryEventStore implements EventStore {
  /** The session that got an event last comes last. */
  private readonly logs = new Map<string, Log>();
  private readonly bounds: Readonly<Required<MemoryEventStoreOptions>>;
  private total = 0;

  constructor(options: MemoryEventStoreOptions = {}) {
    const { maxEvents = 1000, maxLength = 1_048_576, maxTotalLength = 67_108_864, ttlMs = 300_000 } = options;
    this.bounds = { maxEvents, maxLength, maxTotalLength, ttlMs };
  }

  /** The length of all that is kept, in characters. */
  get length(): number {
    return this.total;
  }

  append(session: string, { stream, sequence, json }: StoredEvent): Promise<void> {
    const { maxEvents, maxLength, maxTotalLength } = this.bounds;
    const log = this.logs.get(session) ?? { events: [], length: 0 };
    this.logs.delete(session);
    this.logs.set(session, log);
    log.events.push({ stream, sequence, json, at: Date.now() });
    log.length += json.length;
    this.total += json.length;
    this.forgetOld(log);
    // The latest is kept, whatever its length: it may be the answer to a call.
    while (log.events.length > 1 && (log.events.length > maxEvents || log.length > maxLength))
      this.shift(log);
    while (this.total > maxTotalLength) this.shiftOldest();
    return DONE;
  }

  async after(session: string, stream: number, sequence: number): Promise<readonly StoredEvent[]> {
    const log = this.logs.get(session);
    if (!log) return [];
    this.forgetOld(log);
    return log.events.filter(event => event.stream === stream && event.sequence > sequence);
  }

  async delete(session: string): Promise<void> {
    this.total -= this.logs.get(session)?.length ?? 0;
    this.logs.delete(session);
  }

  private forgetOld(log: Log): void {
    const oldest = Date.now() - this.bounds.ttlMs;
    while (log.events.length > 0 && log.events[0].at < oldest) this.shift(log);
  }

  private shift(log: Log): void {
    const length = log.events.shift()?.json.length ?? 0;
    log.length -= length;
    this.total -= length;
  }

  private shiftOldest(): void {
    for (const [session, log] of this.logs) {
      if (log.events.length > 0) return this.shift(log);
      this.logs.delete(session);
    }
  }
}

const DONE = Promise.resolve();
