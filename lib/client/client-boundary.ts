import type { ClientContext, Request, Result } from '@modelcontextprotocol/client';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { marked, synthetic } from '../interceptors/boundary/answers.js';
import {
  type PhaseMessage,
  phaseRunner,
  Refused,
  type RunPhase,
  undiscovered,
} from '../interceptors/boundary/run-phase.js';
import type { ChainSource } from '../interceptors/chain-source.js';
import type { Chain } from '../interceptors/chain/chain.js';
import { frozenCopy } from '../interceptors/chain/frozen.js';
import { payloadCheck } from '../interceptors/messages/payload-check.js';
import { EVENT_OF } from '../interceptors/protocol/events.js';
import type { InvocationContext, Phase } from '../interceptors/protocol/types.js';
import type { ChainReport } from '../interceptors/reports.js';
import { isProtocolError, unexpected } from '../protocol/errors.js';
import type { InputMethod } from '../protocol/methods.js';
import type { InputHandler } from './input-requests.js';

/** A client's chain, and its limits. */
export interface ClientBoundaryOptions {
  /** The client's name, which is the `server` in reports. */
  readonly name?: string;
  /** The interceptors: an `InterceptorChain`, as `InterceptorChain.discover(hosts)` returns it. */
  readonly chain: ChainSource;
  /** The longest run of the chain for one message, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number;
  /** Configuration by `name` or `host/name`; it wins over an override's. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Called with the report of each run of the chain. */
  readonly onReport?: (report: ChainReport) => void;
}

export type Payload = Readonly<Record<string, unknown>>;

export interface InterceptedRequest {
  readonly method: string;
  readonly isAsked: boolean;
  readonly params: Payload;
  readonly signal?: AbortSignal;
  /** Bounds each phase of the chain further, in milliseconds. */
  readonly timeoutMs?: number;
  readonly context?: InvocationContext;
  protocolVersion(chain: Chain): string | undefined | Promise<string | undefined>;
}

export type InterceptedInputHandler = (request: Request, context: ClientContext) => Promise<Result>;

const DEFAULT_TIMEOUT_MS = 10_000;

export class ClientBoundary {
  private readonly run: RunPhase;

  constructor(private readonly options: ClientBoundaryOptions) {
    this.run = phaseRunner({
      server: options.name,
      settings: { timeoutMs: DEFAULT_TIMEOUT_MS },
      reports: { publish: report => options.onReport?.(report) },
    });
  }

  /**
   * Runs both phases with the work between them. If an interceptor answers, the work does not run.
   * @throws McpException for a refused message, SdkError if the caller gave up, or the error of `work`
   */
  async around(intercepted: InterceptedRequest, work: (params: Payload) => Promise<Result>): Promise<Result> {
    const { method, isAsked, params, signal } = intercepted;
    const chain = await this.chainFor(signal);
    const event = EVENT_OF[method] ?? method;
    const isHooked = chain.hooks(event, 'request') || chain.hooks(event, 'response');
    const message: PhaseMessage = {
      chain,
      event,
      method,
      isAsked,
      hooks: phase => chain.hooks(event, phase),
      bag: new Map(),
      context: frozenCopy({ timestamp: new Date().toISOString(), ...intercepted.context }),
      call: {
        ...(signal && { reply: { signal } }),
        protocolVersion: isHooked ? await intercepted.protocolVersion(chain) : undefined,
      },
    };
    const { timeoutMs = DEFAULT_TIMEOUT_MS, config } = this.options;
    const options = { timeoutMs: Math.min(timeoutMs, intercepted.timeoutMs ?? Infinity), config };
    const run = async (phase: Phase, payload: unknown, request?: unknown) => {
      try {
        return await this.run(message, phase, payload, request, options);
      } catch (error) {
        throw error instanceof Refused ? error.denial : error;
      } finally {
        assertWanted(signal);
      }
    };
    const { finalPayload, response } = await run('request', params);
    const sent = finalPayload as Payload;
    const answer = response ? synthetic(method, response) : await work(sent);
    const final = (await run('response', answer, sent)).finalPayload as Result;
    // A mutator may have returned a new result without the mark.
    return response ? marked(final, response) : final;
  }

  answering<M extends InputMethod>(
    method: M,
    handler: InputHandler<M>,
    protocolVersion: InterceptedRequest['protocolVersion'],
  ): InterceptedInputHandler {
    const { name } = this.options;
    return async ({ params = {} }, { mcpReq: { id: requestId, signal } }) => {
      // `_meta` belongs to the protocol.
      const { _meta, ...bare } = params as Record<string, unknown>;
      try {
        return await this.around(
          { method, isAsked: false, params: bare, signal, protocolVersion },
          async payload => {
            const answer = await handler(payload, { client: name, requestId, signal });
            const problem = payloadCheck(method, 'response')?.(answer);
            if (problem !== undefined) throw new TypeError(`The answer cannot be sent: ${problem}`);
            return answer;
          },
        );
      } catch (error) {
        if (isProtocolError(error)) throw error;
        const subject = `The answer to ${method}${name === undefined ? '' : ` by the client "${name}"`}`;
        throw Object.assign(unexpected(error, subject), { cause: error });
      }
    };
  }

  /** @throws McpException if a remote host does not answer, so that no message passes unchecked */
  private async chainFor(signal: AbortSignal | undefined): Promise<Chain> {
    assertWanted(signal);
    const { chain, timeoutMs = DEFAULT_TIMEOUT_MS } = this.options;
    try {
      // Without a caller, no hosts are opened for one message, so `end` is not needed.
      return (await chain.current({ signal }, undefined, timeoutMs)).chain;
    } catch (error) {
      assertWanted(signal);
      if (error instanceof McpBootstrapError) throw error;
      throw Object.assign(undiscovered(), { cause: error });
    }
  }
}

/** @throws SdkError if the caller has aborted, like the methods of the SDK */
export function assertWanted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  const reason: unknown = signal.reason;
  throw reason instanceof SdkError ? reason : new SdkError(SdkErrorCode.RequestTimeout, String(reason));
}
