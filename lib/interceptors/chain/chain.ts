import type { Direction, InvocationContext, Phase } from '../protocol/types.js';
import { systemClock, type Clock } from './clock.js';
import { prepare, type ChainEntry, type PreparedEntry } from './entry.js';
import type { ChainResult } from './result.js';
import { ChainRun } from './run.js';
import { Selector, type Selection } from './selection.js';

/** One message to run the chain on. */
export interface ChainParams {
  readonly event: string;
  readonly phase: Phase;
  /** `send`: mutate, then validate. `receive`: validate, then mutate. */
  readonly direction: Direction;
  readonly payload: unknown;
  /** In the response phase, the payload of the request. */
  readonly request?: unknown;
  /** Only these, by `name` or `host/name`. Default: all. */
  readonly interceptors?: readonly string[];
  /** Configuration by the interceptor's name; it wins over an override's. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Bounds the whole run, in milliseconds. Default: none. */
  readonly timeoutMs?: number;
  readonly context?: InvocationContext;
  /** Gives the run up. */
  readonly signal?: AbortSignal;
  /** The negotiated revision, against which `compat` is checked. Default: everything is compatible. */
  readonly protocolVersion?: string;
  /** What the interceptors of this process share along one exchange. */
  readonly bag?: Map<unknown, unknown>;
  /** Says why a payload is none for the event; a mutation that makes one such is a failure of the mutator. */
  readonly checkPayload?: (payload: unknown) => string | undefined;
  /** Decides without acting: only interceptors without side effects run, and every mutator reports its diff. */
  readonly simulate?: boolean;
}

export interface ChainOptions {
  /** What one interceptor may take where nobody says otherwise, in milliseconds. Default: 1,000. */
  readonly defaultTimeoutMs?: number;
  /** What one interceptor may take whatever anybody says, in milliseconds. Default: 30,000. */
  readonly maxTimeoutMs?: number;
  readonly clock?: Clock;
  /** Told of every sink that failed; nobody waits for one. */
  readonly onSinkError?: (entry: PreparedEntry, error: string) => void;
}

/** A name that `interceptors` asks for and the chain does not have. */
export class UnknownInterceptorError extends Error {}

/** Interceptors of any number of hosts, merged into one order. It is built once; `execute` runs it on a message. */
export class Chain {
  readonly entries: readonly PreparedEntry[];
  private readonly selector: Selector;

  /** @throws OverrideError where an override widens an interceptor's hooks */
  constructor(
    entries: readonly ChainEntry[],
    private readonly options: ChainOptions = {},
  ) {
    this.entries = entries.map(prepare);
    this.selector = new Selector(this.entries);
  }

  /** Whether anything would run: a lookup. */
  hooks(event: string, phase: Phase): boolean {
    return this.selector.select(event, phase).size > 0;
  }

  /**
   * Runs the chain on a message. The payload itself is never changed.
   * @throws UnknownInterceptorError for a name in `interceptors` that no entry has
   */
  async execute(params: ChainParams): Promise<ChainResult> {
    const selection = this.select(params);
    const { clock = systemClock, defaultTimeoutMs = 1000, maxTimeoutMs = 30_000, onSinkError } = this.options;
    return new ChainRun(selection, params, { clock, defaultTimeoutMs, maxTimeoutMs, onSinkError }).execute();
  }

  private select({ event, phase, interceptors }: ChainParams): Selection {
    const selection = this.selector.select(event, phase);
    if (interceptors === undefined) return selection;
    const asked = new Set(interceptors);
    for (const name of asked) {
      if (!this.entries.some(entry => isNamed(entry, name))) {
        throw new UnknownInterceptorError(`the chain has no interceptor "${name}"`);
      }
    }
    const pick = (entries: readonly PreparedEntry[]) =>
      entries.filter(entry => asked.has(entry.name) || asked.has(`${entry.host}/${entry.name}`));
    const { validators, finals, mutators, sinks } = selection;
    return {
      validators: pick(validators),
      finals: pick(finals),
      mutators: pick(mutators),
      sinks: pick(sinks),
      size: selection.size,
    };
  }
}

const isNamed = ({ name, host }: PreparedEntry, asked: string): boolean =>
  asked === name || asked === `${host}/${name}`;
