import { LRUCache } from 'lru-cache';
import { INPUT_EVENTS, NOTIFICATION_EVENTS } from '../protocol/events.js';
import type { Phase } from '../protocol/types.js';
import { AuditRuns } from './audit-runs.js';
import { type Abortable, systemClock } from './deadline.js';
import { configNames, namesOf, prepare, type ChainEntry, type PreparedEntry } from './entry.js';
import { frozenCopy } from './frozen.js';
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, type ChainOptions, type ChainParams } from './params.js';
import { passed, type ChainResult } from './result.js';
import { ChainRun, type OnEnd, type RunOptions } from './run.js';
import { filtered, select, type Hooked, type Selection } from './selection.js';

/** Maximum cached events. Callers can name custom events, so the number must be bounded. */
const MAX_EVENTS = 1000;

/** The interceptors of several hosts, merged into one order. It is built once; `execute` runs it on a message. */
export class Chain {
  readonly entries: readonly PreparedEntry[];
  readonly hooksInput: boolean;
  readonly hooksNotifications: boolean;
  private readonly known = new LRUCache<string, Hooked>({ max: MAX_EVENTS });
  private readonly options: RunOptions;

  /** @throws Error if an override widens an interceptor's hooks */
  constructor(
    entries: readonly ChainEntry[],
    {
      clock = systemClock,
      auditRuns = new AuditRuns(),
      defaultTimeoutMs = DEFAULT_TIMEOUT_MS,
      maxTimeoutMs = MAX_TIMEOUT_MS,
      observe,
      observeSink,
    }: ChainOptions = {},
  ) {
    const namesFor = configNames(entries);
    this.entries = entries.map(entry => prepare(entry, namesFor(entry)));
    this.hooksInput = INPUT_EVENTS.some(
      event => this.hooks(event, 'request') || this.hooks(event, 'response'),
    );
    this.hooksNotifications = NOTIFICATION_EVENTS.some(event => this.hooks(event, 'request'));
    this.options = { clock, auditRuns, defaultTimeoutMs, maxTimeoutMs, observe, observeSink };
  }

  hooked(event: string): Hooked {
    const known = this.known.get(event);
    if (known) return known;
    const hooked = {
      request: select(this.entries, event, 'request'),
      response: select(this.entries, event, 'response'),
    };
    this.known.set(event, hooked);
    return hooked;
  }

  hooks(event: string, phase: Phase): boolean {
    return this.hooked(event)[phase].size > 0;
  }

  /** @throws Error for an unknown name in `interceptors` */
  async execute(params: ChainParams): Promise<ChainResult> {
    const { context } = params;
    return this.run(context ? { ...params, context: frozenCopy(context) } : params);
  }

  /**
   * @param onEnd receives the whole result; the returned decision may lack audit interceptors that still run
   * @param call replaces `params.signal`
   */
  run(params: ChainParams, onEnd?: OnEnd, call: Abortable = params): Promise<ChainResult> {
    const selection = this.select(params);
    if (selection.size > 0) return new ChainRun(selection, params, this.options, onEnd, call).execute();
    const result = passed(params);
    onEnd?.(result);
    return Promise.resolve(result);
  }

  private select({ event, phase, interceptors, mutatorsOnly, inputRequired }: ChainParams): Selection {
    let selection = this.hooked(event)[phase];
    if (mutatorsOnly) selection = filtered(selection, ({ type }) => type === 'mutation');
    if (inputRequired) selection = filtered(selection, ({ traits }) => traits.inputRequired === true);
    if (interceptors === undefined) return selection;
    const asked = new Set(interceptors);
    for (const name of asked) {
      if (!this.entries.some(entry => namesOf(entry).includes(name))) {
        throw new Error(`the chain has no interceptor "${name}"`);
      }
    }
    return filtered(selection, entry => namesOf(entry).some(name => asked.has(name)));
  }
}
