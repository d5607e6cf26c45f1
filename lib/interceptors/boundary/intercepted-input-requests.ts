import type { InputRequest, InputRequiredResult, Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import { assertKeys } from '../../elicitation/requests/input-required.exception.js';
import type { AskClient, LateMessages, McpCall } from '../../protocol/mcp-call.js';
import type { ChainResult } from '../chain/result.js';
import { answeredMethod } from '../messages/payload-check.js';
import { isInputEvent } from '../protocol/events.js';
import type { Phase } from '../protocol/types.js';
import { channelOver, isInputRequired, type Message } from './message.js';
import { Refused, type RunPhase } from './run-phase.js';

type Json = Readonly<Record<string, unknown>>;
type Responses = NonNullable<McpCall['inputResponses']>;

const MAX_ANSWERS = 100;

/** Maximum rounds of input requests that interceptors answer without asking the client. */
const MAX_ANSWERED_ROUNDS = 10;

/** Runs the chain around the input requests of a message, in both eras. */
export class InterceptedInputRequests {
  constructor(
    private readonly message: Message,
    private readonly runPhase: RunPhase,
  ) {}

  async around(call: McpCall, work: (call: McpCall) => Promise<Result>): Promise<Result> {
    let governed: McpCall = {
      receive: responses => this.received(responses),
      ...call,
      reply: channelOver(call.reply, { asking: ask => this.asking(ask) }),
    };
    for (let round = 0; round < MAX_ANSWERED_ROUNDS; round++) {
      const answer = await work(governed);
      if (!isInputRequired(answer)) return answer;
      const sent = await this.sent(answer);
      if ('result' in sent) return sent.result;
      const { requestState } = answer;
      governed = { ...governed, inputResponses: sent.answers, receive: undefined, requestState };
    }
    throw new Error(
      `Interceptors answered ${MAX_ANSWERED_ROUNDS} rounds of ${call.method}, and its handler still asks; limit respondWith to the input that it is meant for`,
    );
  }

  asking(ask: AskClient): AskClient {
    return async (method, params, options) => {
      if (!isInputEvent(method)) return ask(method, params, options);
      // `_meta` belongs to the protocol.
      const { _meta, ...bare } = params ?? {};
      const request = await this.run(method, 'request', bare);
      const asked = request.finalPayload as Json;
      const answer =
        (request.response?.result as Result | undefined) ??
        (await ask(method, _meta === undefined ? asked : { ...asked, _meta }, options));
      const { finalPayload } = await this.run(method, 'response', answer, asked);
      return finalPayload as Result;
    };
  }

  /** Returns the result for the client, or the answers if interceptors answered all requests in it. */
  private async sent(
    result: InputRequiredResult,
  ): Promise<{ readonly result: Result } | { readonly answers: Responses }> {
    const { inputRequests: asked = {} } = result;
    const { open: inputRequests, answers } = await this.sorted(asked);
    const [answered, open] = [Object.keys(answers), Object.keys(inputRequests)];
    if (answered.length === 0) return { result: { ...result, ...(open.length > 0 && { inputRequests }) } };
    if (open.length === 0) return { answers };
    // The client's next round could not carry the interceptor's answer.
    throw new Error(
      `An interceptor answered ${answered.join(', ')} with respondWith, but the client has to answer ${open.join(', ')} in the same round; answer all of them or none`,
    );
  }

  /** Runs the chain for input requests. @returns those for the client, and the answers of interceptors to the others */
  async sorted(asked: Readonly<Record<string, InputRequest>>): ReturnType<LateMessages['input']> {
    assertKeys(asked);
    const open: Record<string, InputRequest> = {};
    const answers: Record<string, unknown> = {};
    for (const [key, request] of Object.entries(asked)) {
      const { method, params = {} } = request;
      const { finalPayload, response } = await this.run(method, 'request', params);
      if (response) answers[key] = (await this.run(method, 'response', response.result, params)).finalPayload;
      else open[key] = { ...request, ...(request.params && { params: finalPayload }) } as InputRequest;
    }
    return { open, answers };
  }

  /** @throws McpException (-32602) for an entry that is not an answer, because its interceptors would be unknown */
  private async received(responses: Responses): Promise<Responses> {
    if (Object.keys(responses).length > MAX_ANSWERS) {
      throw new McpException(McpErrorCode.InvalidParams, `More than ${MAX_ANSWERS} inputResponses`);
    }
    const passed = Object.keys(responses).map(async key => {
      const method = answeredMethod(responses, key);
      if (method === undefined) {
        throw new McpException(McpErrorCode.InvalidParams, 'An entry of inputResponses is not an answer');
      }
      const { finalPayload } = await this.run(method, 'response', responses[key]);
      return [key, finalPayload] as const;
    });
    return Object.fromEntries(await Promise.all(passed));
  }

  /** A refusal throws the same error in the asking handler that the client would get. */
  private async run(method: string, phase: Phase, payload: unknown, request?: unknown): Promise<ChainResult> {
    try {
      return await this.runPhase(this.message.within(method), phase, payload, request);
    } catch (error) {
      throw error instanceof Refused ? error.denial : error;
    }
  }
}
