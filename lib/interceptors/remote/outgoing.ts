import type { Invocation } from '../chain/result.js';
import type { InvocationContext, InvokeParams } from '../protocol/types.js';
import type { HostSendOptions } from './host-options.js';
import { defined } from '../../util/defined.js';
import { ExchangeBag } from '../messages/context.js';
import { pointerSteps } from '../../schema/json-schema.js';
import { isRecord } from '../../util/is-record.js';
import { changes } from '../chain/diff.js';

/** Key in the `_meta` of an invocation for the caller's HTTP headers, if they are sent. */
const HEADERS_META = 'nestjs-mcp/headers';

/** Key in the `_meta` of an invocation. `true` means that the payload is only a part of the message. */
export const PARTIAL_META = 'nestjs-mcp/partial';

interface Place {
  readonly path: string;
  readonly steps: readonly string[];
}

export class Outgoing {
  /** The parts of payloads to send. Undefined for whole payloads. */
  private readonly places?: readonly Place[];

  constructor(private readonly send: HostSendOptions = {}) {
    this.places = send.payload?.map(path => ({ path, steps: pointerSteps(path) }));
  }

  paramsFor({ name, event, phase, payload, config, timeoutMs, context, bag }: Invocation): InvokeParams {
    const { context: parts, headers: names } = this.send;
    const { places } = this;
    const headers = names && bag instanceof ExchangeBag && pick(bag.headers, names);
    return {
      name,
      event,
      phase,
      payload: places ? narrowed(payload, places) : payload,
      timeoutMs: Math.max(1, Math.floor(timeoutMs)),
      ...(config && { config }),
      ...(context && { context: parts ? narrowContext(context, parts) : context }),
      ...((headers ?? places) && {
        _meta: { ...(headers && { [HEADERS_META]: headers }), ...(places && { [PARTIAL_META]: true }) },
      }),
    };
  }

  /** @throws Error if the host changed a part that it did not receive */
  takeBack(payload: unknown, result: unknown): unknown {
    if (!this.places) return result;
    const { mutation, ...flat } = result as { mutation?: unknown; modified?: unknown; payload?: unknown };
    const own = (flat.modified === undefined ? mutation : flat) as { modified?: unknown; payload?: unknown };
    return own?.modified === true ? { ...own, payload: widened(payload, own.payload, this.places) } : result;
  }
}

function narrowContext(
  { principal, traceId, spanId, sessionId, timestamp, interceptorState }: InvocationContext,
  parts: NonNullable<HostSendOptions['context']>,
): InvocationContext {
  const has = (part: (typeof parts)[number]) => parts.includes(part);
  const { claims, ...who } = principal ?? { type: 'anonymous' as const };
  return defined({
    principal: has('principal') ? { ...who, ...(has('claims') && claims && { claims }) } : undefined,
    ...(has('trace') && { traceId, spanId }),
    sessionId: has('session') ? sessionId : undefined,
    timestamp: has('timestamp') ? timestamp : undefined,
    interceptorState,
  });
}

function pick(headers: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const wanted = new Set(names.map(name => name.toLowerCase()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => wanted.has(name.toLowerCase())));
}

function narrowed(payload: unknown, places: readonly Place[]): unknown {
  let part: unknown = {};
  for (const { steps } of places) {
    const found = lookUp(payload, steps);
    if (found) part = put(part, steps, found.value);
  }
  return part;
}

/** @throws Error if the host changed a part that it did not receive */
function widened(payload: unknown, changed: unknown, places: readonly Place[]): unknown {
  for (const { path } of changes(narrowed(payload, places), changed)) {
    const isSent = places.some(place => path === place.path || path.startsWith(`${place.path}/`));
    if (!isSent) throw new Error(`it changed ${path}, which it did not receive`);
  }
  let whole = payload;
  for (const { steps } of places) {
    const found = lookUp(changed, steps);
    whole = found ? put(whole, steps, found.value) : without(whole, steps);
  }
  return whole;
}

function lookUp(value: unknown, steps: readonly string[]): { readonly value: unknown } | undefined {
  let node = value;
  for (const step of steps) {
    if (!isRecord(node) || !Object.hasOwn(node, step)) return undefined;
    node = node[step];
  }
  return { value: node };
}

function put(node: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value;
  const fields = isRecord(node) ? node : {};
  const own = Object.hasOwn(fields, step) ? fields[step] : undefined;
  return Object.fromEntries([...Object.entries(fields), [step, put(own, rest, value)]]);
}

function without(node: unknown, [step, ...rest]: readonly string[]): unknown {
  if (!isRecord(node) || step === undefined || !Object.hasOwn(node, step)) return node;
  const entries = Object.entries(node);
  return Object.fromEntries(
    rest.length === 0
      ? entries.filter(([key]) => key !== step)
      : entries.map(([key, value]) => [key, key === step ? without(value, rest) : value]),
  );
}
