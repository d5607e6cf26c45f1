import type { ReplyChannel } from '../../protocol/mcp-call.js';
import type { ChainParams } from '../chain/params.js';
import { type ChainResult, type EntryResult, passed } from '../chain/result.js';
import { answerCheck, payloadCheck } from '../messages/payload-check.js';
import type { InterceptorSettings } from '../interceptor-options.js';
import type { Phase } from '../protocol/types.js';
import type { InterceptorReports } from '../reports.js';
import type { Message } from './message.js';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import { LimitReached } from '../../protocol/caller-limit.js';
import { defined } from '../../util/defined.js';
import { isRecord } from '../../util/is-record.js';

export type PhaseMessage = Pick<
  Message,
  'chain' | 'event' | 'method' | 'isAsked' | 'deadline' | 'context' | 'hooks'
> & {
  readonly bag: Map<unknown, unknown>;
  readonly call: {
    readonly reply?: Pick<ReplyChannel, 'signal' | 'isEnded'>;
    readonly protocolVersion?: string;
  };
};

/** @throws Refused if the chain refuses the message */
export type RunPhase = (
  message: PhaseMessage,
  phase: Phase,
  payload: unknown,
  request?: unknown,
  options?: Pick<
    ChainParams,
    'mutatorsOnly' | 'inputRequired' | 'checkPayload' | 'checkResponse' | 'timeoutMs' | 'config'
  >,
) => Promise<ChainResult>;

interface RunPhaseOptions {
  readonly server?: string;
  readonly settings: Pick<InterceptorSettings, 'timeoutMs'>;
  readonly reports: Pick<InterceptorReports, 'publish'>;
}

export const phaseRunner =
  ({ server, settings: { timeoutMs }, reports }: RunPhaseOptions): RunPhase =>
  async (message, phase, payload, request, options) => {
    const { chain, event, method, call, isAsked, deadline } = message;
    if (!message.hooks(phase)) return passed({ event, phase, payload });
    const { context, bag } = message;
    const direction = isAsked === (phase === 'request') ? 'send' : 'receive';
    const params: ChainParams = {
      event,
      phase,
      direction,
      payload,
      request,
      context,
      bag,
      protocolVersion: call.protocolVersion,
      timeoutMs: phase === 'request' && deadline !== undefined ? deadline - performance.now() : timeoutMs,
      checkPayload: payloadCheck(method, phase),
      checkResponse: answerCheck(method),
    };
    if (options) Object.assign(params, options);
    const onEnd = (result: ChainResult) => {
      const { status, results } = result;
      // A lookup is not a separate message, so only its failures are reported.
      const isCrossing = !options?.mutatorsOnly || results.some(({ failedOpen }) => failedOpen);
      if (isCrossing || status !== 'success') reports.publish({ server, direction, result, context });
    };
    const decision = await chain.run(params, onEnd, call.reply);
    if (decision.status === 'success') return decision;
    throw new Refused(denialOf(decision, options?.timeoutMs ?? timeoutMs), !isDecided(decision));
  };

const FAILED = 'Interceptor execution failed';
const TIMED_OUT = 'Interceptor execution timeout';
const FAULT = 'An interceptor failed, or was too slow; try again later';

/** The JSON-RPC error for a refused message. It never contains a payload or the error of an interceptor. */
export function denialOf(
  { status, results, abortedAt, phase }: ChainResult,
  timeoutMs?: number,
): McpException {
  const interceptor = abortedAt?.interceptor;
  if (status === 'timeout') {
    return timedOut(defined({ interceptor, timeoutMs, phase }));
  }
  if (status === 'mutation_failed') {
    return new McpException(McpErrorCode.InternalError, 'Interceptor mutation failed', {
      failedInterceptor: interceptor,
    });
  }
  const blocking = results.filter(isBlocking);
  const isUnavailable = blocking.length > 0 && blocking.every(({ unavailable }) => unavailable);
  if (isUnavailable) return new UnavailableException();
  const validationErrors = blocking.flatMap(errorsOf);
  return new McpException(McpErrorCode.InvalidParams, 'Interceptor validation failed', { validationErrors });
}

export const timedOut = (data: object): McpException =>
  new McpException(McpErrorCode.Refused, TIMED_OUT, data);

export const undiscovered = (): McpException =>
  new McpException(McpErrorCode.InternalError, FAILED, { reason: 'the interceptors could not be listed' });

/** Whether an error says that validators refused a message. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof McpException && isRecord(error.data) && 'validationErrors' in error.data;

/** The answer if a mutator changed a resource of `subscriptions/listen`. */
export const unchangeable = (): McpException =>
  new McpException(McpErrorCode.InternalError, 'Interceptor mutation failed', {
    reason: 'the resource of a subscriptions/listen cannot be changed',
  });

const isBlocking = ({ type, mode, outcome, failedOpen }: EntryResult): boolean =>
  type === 'validation' &&
  mode !== 'audit' &&
  failedOpen !== true &&
  (outcome === 'deny' || outcome === 'crash' || outcome === 'timeout');

/** Whether a validator has refused the message, and not only failed. */
const isDecided = ({ results }: ChainResult): boolean =>
  results.some(one => one.outcome === 'deny' && isBlocking(one));

function errorsOf({ interceptor, outcome, severity = 'error', messages = [] }: EntryResult): object[] {
  if (outcome !== 'deny') {
    return [{ interceptor, severity: 'error', message: outcome === 'timeout' ? TIMED_OUT : FAILED }];
  }
  if (messages.length === 0) return [{ interceptor, severity, message: `Refused by ${interceptor}` }];
  return messages.map(one =>
    defined({ interceptor, severity: one.severity, message: one.message, path: one.path }),
  );
}

export class Refused extends Error {
  /** @param isFault whether interceptors failed or were too slow, so that the next run may end differently */
  constructor(
    readonly denial: McpException,
    readonly isFault = false,
  ) {
    super(denial.message);
  }
}

/** For a message that its client can ask for again: a fault is no answer. @throws LimitReached (503) for a fault */
export function orLater(error: unknown): never {
  throw error instanceof Refused && error.isFault ? new LimitReached(503, FAULT) : error;
}
