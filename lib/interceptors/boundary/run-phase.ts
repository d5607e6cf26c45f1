import type { ReplyChannel } from '../../protocol/mcp-call.js';
import type { ChainParams } from '../chain/params.js';
import { passed, type ChainResult } from '../chain/result.js';
import { answerCheck, payloadCheck } from '../messages/payload-check.js';
import type { InterceptorSettings } from '../interceptor-options.js';
import type { Phase } from '../protocol/types.js';
import type { InterceptorReports } from '../reports.js';
import { denialOf, Refused } from './denial.js';
import type { Message } from './message.js';

export type RunOptions = Pick<
  ChainParams,
  'mutatorsOnly' | 'inputRequired' | 'checkPayload' | 'checkResponse' | 'timeoutMs' | 'config'
>;

export type PhaseMessage = Pick<
  Message,
  'chain' | 'event' | 'method' | 'isAsked' | 'deadline' | 'context' | 'hooks'
> & {
  readonly bag: Map<unknown, unknown>;
  readonly call: { readonly reply?: Pick<ReplyChannel, 'signal'>; readonly protocolVersion?: string };
};

/** @throws Refused if the chain refuses the message */
export type RunPhase = (
  message: PhaseMessage,
  phase: Phase,
  payload: unknown,
  request?: unknown,
  options?: RunOptions,
) => ChainResult | Promise<ChainResult>;

interface RunPhaseOptions {
  readonly server?: string;
  readonly settings: Pick<InterceptorSettings, 'timeoutMs'>;
  readonly reports: Pick<InterceptorReports, 'publish'>;
}

export const phaseRunner = ({ server, settings: { timeoutMs }, reports }: RunPhaseOptions): RunPhase => {
  const publish = (message: PhaseMessage, params: ChainParams, result: ChainResult): void => {
    const isRefused = result.status !== 'success';
    // A lookup crosses no boundary, but a failure is reported.
    if (!params.mutatorsOnly || isRefused || result.results.some(({ failedOpen }) => failedOpen)) {
      reports.publish({ server, direction: params.direction, result, context: message.context });
    }
  };
  return (message, phase, payload, request, options) => {
    const { chain, event, method, call, isAsked, deadline } = message;
    if (!message.hooks(phase)) return passed({ event, phase, payload });
    const common: ChainParams = {
      event,
      phase,
      direction: isAsked === (phase === 'request') ? 'send' : 'receive',
      payload,
      request,
      context: message.context,
      bag: message.bag,
      signal: call.reply?.signal,
      protocolVersion: call.protocolVersion,
      timeoutMs: phase === 'request' && deadline !== undefined ? deadline - performance.now() : timeoutMs,
      checkPayload: payloadCheck(method, phase),
      checkResponse: answerCheck(method),
    };
    const params = options ? { ...common, ...options } : common;
    const unlessRefused = (whole: ChainResult): ChainResult => {
      if (whole.status === 'success') return whole;
      throw new Refused(denialOf(whole, options?.timeoutMs ?? timeoutMs));
    };
    const result = chain.run(params, whole => publish(message, params, whole));
    return result instanceof Promise ? result.then(unlessRefused) : unlessRefused(result);
  };
};
