import type { Rounds } from '../elicitation/rounds.js';
import type { Answer, Stage } from '../protocol/answer.js';
import type { Era } from '../protocol/mcp-call.js';
import { DISPATCHED, LISTEN, mayAsk } from '../protocol/methods.js';
import { isProtocolError, unexpected } from '../protocol/errors.js';
import { traceIdOf } from '../protocol/trace-id.js';
import type { ServerExtension, Stages } from '../protocol/server-extension.js';
import type { HeaderCheck } from '../headers/header-check.js';
import { boundedListen, listenAnswer, type ListenParts } from './listening.js';

export interface PipelineParts extends ListenParts {
  readonly rounds: Rounds;
  readonly headers: HeaderCheck;
}

/**
 * Defines the order of all steps of a request. A transport creates the `McpCall` and writes the answer; the stages of
 * this list run between them. The list is composed once for each method of an era, without stages that have no work.
 */
export function composePipeline(parts: PipelineParts, era: Era): ReadonlyMap<string, Answer> {
  const { handlers, rounds, headers, extensions } = parts;
  const errors = errorsAsJsonRpc(rounds);
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
        errors,
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
      return [method, compose(stages, answer)] as const;
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

/** The last stage that an error passes. It replaces an unexpected error, which could reveal too much. */
const errorsAsJsonRpc =
  (rounds: Pick<Rounds, 'traffic'>): Stage =>
  next =>
  async (call, params) => {
    try {
      return await next(call, params);
    } catch (error) {
      throw isProtocolError(error) ? error : unexpected(error, call.method, traceIdOf(call, rounds.traffic));
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
