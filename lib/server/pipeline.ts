import type { Boundary } from '../interceptors/boundary/boundary.js';
import type { Rounds } from '../mrtr/rounds.js';
import type { Answer, Stage } from '../protocol/answer.js';
import type { Era } from '../protocol/mcp-call.js';
import { DISPATCHED, METHODS, type DispatchedMethod } from '../protocol/methods.js';
import { isProtocolError, unexpected } from '../protocol/errors.js';
import { traceIdOf } from '../protocol/trace-id.js';
import type { Access } from './access.js';
import type { HeaderCheck } from '../headers/header-check.js';

export interface PipelineParts {
  /** Answers from the catalogue, or from the backends of a gateway. */
  readonly answer: (method: DispatchedMethod) => Answer;
  readonly rounds: Rounds;
  readonly headers: HeaderCheck;
  /** Undefined if the answers do not depend on the caller. */
  readonly access?: Access;
  /** The interceptors, if the server has any. */
  readonly boundary?: Boundary;
  /** Methods in addition to the protocol's own methods. */
  readonly extensions: Readonly<Record<string, Answer>>;
}

/**
 * Defines the order of all steps of a request. A transport creates the `McpCall` and writes the answer; the stages of
 * this list run between them. The list is composed once for each method of an era, without stages that have no work.
 */
export function composePipeline(parts: PipelineParts, era: Era): ReadonlyMap<string, Answer> {
  const { answer, rounds, headers, access, boundary, extensions } = parts;
  const answers = new Map<string, Answer>();
  const errors = errorsAsJsonRpc(rounds);
  for (const method of DISPATCHED) {
    const { canAsk } = METHODS.get(method)!;
    const stages = [
      errors,
      // First, because later stages could reveal that a hidden handler exists.
      access && access.stage,
      era === 'legacy' && canAsk && rounds.legacyRounds,
      // Checks that the caller sees the named handler, checks header parameters, then runs the chain.
      boundary && boundary.intercept(method),
      !boundary && era === 'modern' && method === 'tools/call' && headerParameters(headers),
      // Again, because an interceptor may have changed the name.
      boundary && access?.needsToolScopes && method === 'tools/call' && access.toolStage,
    ];
    answers.set(method, compose(stages, answer(method)));
  }
  for (const [method, own] of Object.entries(extensions)) {
    answers.set(method, compose([errors, boundary && boundary.passNotifications], own));
  }
  return answers;
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
