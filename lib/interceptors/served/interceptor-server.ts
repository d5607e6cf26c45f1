import type { Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import { isRecord } from '../../util/is-record.js';
import type { McpCall, Params } from '../../protocol/mcp-call.js';
import type { OwnMethod } from '../../protocol/server-extension.js';
import { messageOf } from '../../util/message-of.js';
import { timedOut } from '../boundary/run-phase.js';
import { paginate } from '../../catalog/catalog.js';
import type { MergedChain } from '../merged-chain.js';
import { systemClock } from '../chain/deadline.js';
import {
  type ChainEntry,
  LOCAL_HOST,
  prepare,
  type PreparedEntry,
  resolvedDescriptor,
} from '../chain/entry.js';
import { frozenCopy } from '../chain/frozen.js';
import { InterceptorTimeout, type Invoked, invokeEntry } from '../chain/invoke-entry.js';
import { type ChainParams, DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from '../chain/params.js';
import { runContext } from '../chain/run.js';
import { verdictOf } from '../chain/verdict.js';
import { contextOf, ExchangeBag } from '../messages/context.js';
import { problemOfInvoked } from '../messages/payload-check.js';
import { matchesEvent } from '../protocol/events.js';
import { readSink } from '../protocol/read-result.js';
import { isCompatible } from '../chain/when.js';
import type { InterceptorDescriptor, InvokeParams, Phase } from '../protocol/types.js';
import { PARTIAL_META } from '../remote/outgoing.js';

/** Default lifetime of a listing for clients, in milliseconds. */
const DEFAULT_TTL_MS = 5000;

/** Serves an application's interceptors to clients: `interceptors/list` and `interceptor/invoke` (SEP-2624). */
export class InterceptorServer {
  private last?: Served;
  readonly methods: Readonly<Record<string, OwnMethod>>;

  constructor(
    private readonly source: Pick<MergedChain, 'local'>,
    private readonly options: {
      readonly pageSize: number;
      readonly ttlMs?: number;
      readonly log: (message: string) => void;
    },
  ) {
    const invoke: OwnMethod = { answer: (call, params) => this.invoke(params, call) };
    this.methods =
      source.local.length === 0
        ? {}
        : {
            'interceptors/list': { answer: async (_call, params) => this.list(params) },
            'interceptor/invoke': invoke,
            // The method name of some implementations.
            'interceptors/invoke': invoke,
          };
  }

  get capability(): { readonly supportedEvents: string[] } {
    return this.served.capability;
  }

  /** The interceptors with the current policy, resolved once for each policy. */
  private get served(): Served {
    const { local } = this.source;
    return this.last?.from === local ? this.last : (this.last = servedOf(local));
  }

  /** @throws McpException (-32602) for an unknown cursor */
  private list({ event, cursor }: Params): Result {
    const { pageSize, ttlMs = DEFAULT_TTL_MS } = this.options;
    const hooked = this.served.descriptors.filter(
      ({ hooks }) =>
        typeof event !== 'string' || hooks.some(hook => hook.events.some(one => matchesEvent(one, event))),
    );
    const page = paginate('interceptors', hooked, pageSize, { ttlMs }).page(cursor as string | undefined);
    if (!page) throw new McpException(McpErrorCode.InvalidParams, 'Unknown cursor');
    return page;
  }

  /** @throws McpException -32602 for an invalid request, -32603 for a crash, -32000 for a timeout */
  private async invoke(params: Params, call: McpCall): Promise<Result> {
    const checked = this.check(params, call);
    const { entry, name, event, phase, payload, config, timeoutMs, context, problemOf } = checked;
    // The caller can only shorten the deadline.
    const allowed = Math.min(timeoutMs ?? Infinity, entry.timeoutMs ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
    const limits = { clock: systemClock, defaultTimeoutMs: allowed, maxTimeoutMs: allowed };
    try {
      const run: ChainParams = {
        event,
        phase,
        // The invoker has received the data, so the direction is `receive`.
        direction: 'receive',
        payload: frozenCopy(payload),
        timeoutMs: allowed,
        context: frozenCopy(context),
        protocolVersion: call.protocolVersion,
        config: { [`${LOCAL_HOST}/${name}`]: config },
        bag: new ExchangeBag({ request: call.http?.request }, undefined, contextOf(call)),
        signal: call.reply.signal,
        checkPayload: problemOf,
      };
      return answerOf(entry, await invokeEntry(runContext(run, limits), entry, run.payload), run);
    } catch (error) {
      throw this.failure(entry, phase, error, allowed);
    }
  }

  private check(params: Params, { protocolVersion, meta }: McpCall) {
    const { name, event, phase, payload, timeoutMs, context } = params;
    const refuse = (reason: string) =>
      new McpException(McpErrorCode.InvalidParams, 'Invalid interceptor invocation', {
        interceptor: name,
        reason,
      });
    if (typeof name !== 'string') throw refuse('"name" must be a string');
    const entry = this.served.entries.get(name);
    if (entry === undefined) throw refuse('the interceptor does not exist');
    if (typeof event !== 'string') throw refuse('"event" must be a string');
    if (phase !== 'request' && phase !== 'response') throw refuse('"phase" must be "request" or "response"');
    if (payload === undefined) throw refuse('"payload" is missing');
    if (!hooks(entry, event, phase)) throw refuse(`it does not hook ${event} in the ${phase} phase`);
    const problemOf = (read: unknown) => problemOfInvoked(event, phase, read, meta?.[PARTIAL_META] === true);
    const misfit = problemOf(payload);
    if (misfit !== undefined) throw refuse(`"payload" cannot be read as the ${phase} of ${event}: ${misfit}`);
    if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) {
      throw refuse('"timeoutMs" must be a number of milliseconds above 0');
    }
    if (!isCompatible(entry.compat, protocolVersion)) {
      throw refuse(`it does not understand revision ${protocolVersion}`);
    }
    if (context !== undefined && !isRecord(context)) throw refuse('"context" must be an object');
    const config = params['config'] ?? entry.config ?? {};
    if (!isRecord(config)) throw refuse('"config" must be an object');
    const problem = entry.checkConfig?.(config);
    if (problem !== undefined) throw refuse(`"config" does not match its configSchema: ${problem}`);
    return { ...(params as unknown as InvokeParams), config, entry, problemOf };
  }

  private failure({ name }: PreparedEntry, phase: Phase, error: unknown, timeoutMs: number): McpException {
    this.options.log(`The interceptor ${name} failed when it was invoked: ${messageOf(error)}`);
    return error instanceof InterceptorTimeout
      ? timedOut({ interceptor: name, timeoutMs, phase })
      : new McpException(McpErrorCode.InternalError, 'Interceptor execution failed', {
          interceptor: name,
          reason: 'the interceptor failed',
        });
  }
}

interface Served {
  readonly from: readonly ChainEntry[];
  readonly entries: ReadonlyMap<string, PreparedEntry>;
  readonly descriptors: readonly InterceptorDescriptor[];
  readonly capability: { readonly supportedEvents: string[] };
}

function servedOf(from: readonly ChainEntry[]): Served {
  const entries = from.map(entry => prepare(entry));
  const events = entries.flatMap(({ hooks }) => hooks).flatMap(hook => hook.events);
  return {
    from,
    entries: new Map(entries.map(entry => [entry.name, entry])),
    descriptors: entries.map(entry => frozenCopy(resolvedDescriptor(entry))),
    capability: { supportedEvents: [...new Set(events)] },
  };
}

function answerOf(entry: PreparedEntry, invoked: Invoked, run: ChainParams): Result {
  const { name, type } = entry;
  const { phase, payload } = run;
  const source = { interceptor: name, type, phase };
  if (invoked.kind === 'skipped') {
    // An interceptor that does not apply neither objects nor changes anything.
    const said = {
      validation: { valid: true },
      mutation: { modified: false, payload },
      sink: { recorded: false },
    };
    return { ...source, ...said[type], durationMs: 0 };
  }
  const { durationMs } = invoked;
  if (type === 'sink' && invoked.kind === 'value') {
    return { ...source, ...readSink(frozenCopy(invoked.value)), durationMs };
  }
  const { outcome, details = { valid: true }, response } = verdictOf({ entry, payload }, invoked, run);
  if (response || outcome === 'responded') {
    throw new Error('it answered with respondWith, which cannot be sent to its invoker');
  }
  if (outcome === 'timeout') throw new InterceptorTimeout(details.error);
  if (outcome === 'crash') throw new Error(details.error);
  const { valid, severity, messages, suggestions, modified = false, info } = details;
  const told =
    type === 'validation'
      ? { valid, severity, messages, suggestions }
      : { modified, payload: modified ? details.payload : payload };
  return { ...source, ...told, info, durationMs };
}

const hooks = ({ hooks: own }: PreparedEntry, event: string, phase: Phase): boolean =>
  own.some(hook => hook.phase === phase && hook.events.some(pattern => matchesEvent(pattern, event)));
