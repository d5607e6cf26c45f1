import type { Result } from '@modelcontextprotocol/server';
import type { Rounds } from '../elicitation/rounds.js';
import type { Answer, Stage } from '../protocol/answer.js';
import type { Era, McpCall } from '../protocol/mcp-call.js';
import { DISPATCHED, LISTEN, mayAsk } from '../protocol/methods.js';
import { isProtocolError, unexpected } from '../protocol/errors.js';
import type { McpException } from '../exceptions/mcp.exception.js';
import type { Observer } from '../protocol/traffic.js';
import { traceIdOf } from '../protocol/trace-id.js';
import type { ServerExtension, Stages } from '../protocol/server-extension.js';
import type { HeaderCheck } from '../headers/header-check.js';
import { boundedListen, listenAnswer, type ListenParts } from './listening.js';
import { assertRequest, encodeError } from './wire-codec.js';

export interface PipelineParts extends ListenParts {
  readonly rounds: Rounds;
  readonly headers: HeaderCheck;
  /** Undefined if no extension observes requests. */
  readonly observer?: Observer;
}

/**
 * Answers a call.
 * @param write makes of the result what the transport sends
 * @throws McpException, or the SDK's `ProtocolError`: the JSON-RPC error to answer with
 */
export type Serve = <T>(call: McpCall, write: (result: Result) => T | Promise<T>) => Promise<T>;

/**
 * Defines the order of all steps of a request. A transport creates the `McpCall` and writes the answer; the stages of
 * this list run between them. The list is composed once for each method of an era, without stages that have no work.
 */
export function composePipeline(parts: PipelineParts, era: Era): ReadonlyMap<string, Serve> {
  const { handlers, rounds, headers, extensions, observer } = parts;
  const checksHeaders = extensions.some(one => one.checksHeaders);
  const methods: readonly (readonly [string, Answer])[] = [
    ...DISPATCHED.map(method => [method, handlers.answer(method)] as const),
    ...extensions.flatMap(({ methods: own = {} }) =>
      Object.entries(own).flatMap(([method, { answer, eras }]) =>
        eras && !eras.includes(era) ? [] : [[method, answer] as const],
      ),
    ),
    ...Object.entries(handlers.methods),
    ...(era === 'modern' ? [[LISTEN, listenAnswer(parts)] as const] : []),
  ];
  return new Map(
    methods.map(([method, answer]) => {
      const { at, checks } = stagesOf(extensions, method, era);
      const stages = [
        method === LISTEN && boundedListen,
        // First, because later stages could reveal that a hidden handler exists.
        ...at('admit'),
        era === 'legacy' && mayAsk(method) && rounds.legacyRounds,
        // Interceptors: check that the caller sees the named handler, check header parameters, then run the chain.
        ...at('intercept'),
        !checksHeaders && era === 'modern' && method === 'tools/call' && headerParameters(headers),
        ...at('answer'),
        ...checks,
      ];
      const serve = observed(checked(compose(stages, answer), rounds), observer);
      return [method, redirected(serve, extensions)] as const;
    }),
  );
}

interface AddedStages {
  readonly at: (place: Exclude<keyof Stages, 'check'>) => Stage[];
  /** Empty if no other extension has a stage, which could change the params. */
  readonly checks: readonly Stage[];
}

function stagesOf(extensions: readonly ServerExtension[], method: string, era: Era): AddedStages {
  const all = extensions.flatMap(one => one.stages?.(method, era) ?? []);
  return {
    at: place => all.flatMap(stages => stages[place] ?? []),
    checks: all.some(({ check }) => !check) ? all.flatMap(({ check }) => check ?? []) : [],
  };
}

const compose = (stages: readonly (Stage | false | undefined)[], last: Answer): Answer =>
  stages.reduceRight<Answer>((next, stage) => (stage ? stage(next) : next), last);

/** Lets extensions replace a call. */
const redirected = (serve: Serve, extensions: readonly ServerExtension[]): Serve =>
  extensions.reduceRight<Serve>(
    (next, one) => (one.redirect ? (call, write) => next(one.redirect!(call), write) : next),
    serve,
  );

/** Observes a call from before its stages until its answer is written. */
function observed(serve: Serve, observer: Observer | undefined): Serve {
  if (!observer) return serve;
  return async (call, write) => {
    if (call.isSynthetic) return serve(call, write);
    const { reply } = call;
    const seen = observer.begin(call);
    // Not a function that ends it: V8 keeps such functions until the next full garbage collection.
    reply.observation = seen;
    try {
      return await seen.run(() =>
        serve(call, async result => {
          const written = await write(result);
          seen.end({ result });
          return written;
        }),
      );
    } catch (error) {
      seen.end({ error: encodeError(call, error as McpException) });
      throw error;
    } finally {
      // The response may keep the channel for longer than the request.
      reply.observation = undefined;
    }
  };
}

/** Checks a request before its stages, and replaces an unexpected error, which could reveal too much. */
const checked =
  (answer: Answer, { traffic }: Pick<Rounds, 'traffic'>): Serve =>
  async <T>(call: McpCall, write: (result: Result) => T | Promise<T>) => {
    try {
      assertRequest(call);
      const written = write(await answer(call, call.params));
      return written instanceof Promise ? await written : written;
    } catch (error) {
      throw isProtocolError(error) ? error : unexpected(error, call.method, traceIdOf(call, traffic));
    }
  };

/** Compares the headers of a `tools/call` with its arguments (SEP-2243). */
const headerParameters =
  (check: HeaderCheck): Stage =>
  next =>
  (call, params) => {
    const checked = check(call);
    return checked ? checked.then(() => next(call, params)) : next(call, params);
  };
