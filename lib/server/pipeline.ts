import type { Rounds } from '../elicitation/rounds.js';
import type { Answer, Stage } from '../protocol/answer.js';
import type { Era } from '../protocol/mcp-call.js';
import { DISPATCHED, mayAsk } from '../protocol/methods.js';
import { isProtocolError, unexpected } from '../protocol/errors.js';
import { traceIdOf } from '../protocol/trace-id.js';
import type { ServerExtension, Stages } from '../protocol/server-extension.js';
import type { Handlers } from './handlers.js';
import type { HeaderCheck } from '../headers/header-check.js';
import { admitResources } from './listening.js';

export interface PipelineParts {
  readonly handlers: Handlers;
  readonly rounds: Rounds;
  readonly headers: HeaderCheck;
  readonly extensions: readonly ServerExtension[];
}

/**
 * Defines the order of all steps of a request. A transport creates the `McpCall` and writes the answer; the stages of
 * this list run between them. The list is composed once for each method of an era, without stages that have no work.
 */
export function composePipeline(parts: PipelineParts, era: Era): ReadonlyMap<string, Answer> {
  const { handlers, rounds, headers, extensions } = parts;
  const answers = new Map<string, Answer>();
  const errors = errorsAsJsonRpc(rounds);
  for (const method of DISPATCHED) {
    const added = stagesOf(extensions, method, era);
    const stages = [
      errors,
      // First, because later stages could reveal that a hidden handler exists.
      ...added('admit'),
      era === 'legacy' && mayAsk(method) && rounds.legacyRounds,
      // Interceptors: check that the caller sees the named handler, check header parameters, then run the chain.
      ...added('intercept'),
      !extensions.some(({ checksHeaders }) => checksHeaders) &&
        era === 'modern' &&
        method === 'tools/call' &&
        headerParameters(headers),
      ...added('answer'),
      // One of them may have changed the name of the handler.
      ...checksAfter(added),
    ];
    answers.set(method, compose(stages, handlers.answer(method)));
  }
  const further = [
    ...extensions.flatMap(({ methods = {} }) =>
      Object.entries(methods).flatMap(([method, { answer, eras }]) =>
        eras && !eras.includes(era) ? [] : [[method, answer] as const],
      ),
    ),
    ...Object.entries(handlers.methods),
  ];
  for (const [method, answer] of further) {
    const added = stagesOf(extensions, method, era);
    answers.set(
      method,
      compose(
        [
          errors,
          ...added('admit'),
          era === 'legacy' && mayAsk(method) && rounds.legacyRounds,
          ...added('intercept'),
          ...added('answer'),
          ...checksAfter(added),
        ],
        answer,
      ),
    );
  }
  return answers;
}

/** The stages of `subscriptions/listen`, whose stream the SDK keeps. The answer names the resources that it reports. */
export function composeListening({
  handlers,
  extensions,
}: Pick<PipelineParts, 'handlers' | 'extensions'>): Answer {
  const added = stagesOf(extensions, 'subscriptions/listen', 'modern');
  const places = (['admit', 'intercept', 'answer'] as const).flatMap(added);
  return compose([...places, ...checksAfter(added)], admitResources(handlers));
}

/** The checks are only needed after stages that can change the params. */
const checksAfter = (added: (place: keyof Stages) => Stage[]): Stage[] =>
  added('intercept').length + added('answer').length > 0 ? added('check') : [];

function stagesOf(
  extensions: readonly ServerExtension[],
  method: string,
  era: Era,
): (place: keyof Stages) => Stage[] {
  const all = extensions.map(one => one.stages?.(method, era));
  return place => all.flatMap(stages => stages?.[place] ?? []);
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
