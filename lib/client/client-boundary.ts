import { SdkError, SdkErrorCode, type Result } from '@modelcontextprotocol/client';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { marked, synthetic } from '../interceptors/boundary/answers.js';
import type { Chain } from '../interceptors/chain/chain.js';
import { frozenCopy } from '../interceptors/chain/frozen.js';
import { passed, type ChainResult } from '../interceptors/chain/result.js';
import { answerCheck, payloadCheck } from '../interceptors/messages/payload-check.js';
import { EVENT_OF } from '../interceptors/protocol/events.js';
import type { ChainSource } from '../interceptors/chain-source.js';
import { denialOf, undiscovered } from '../interceptors/boundary/denial.js';
import type { InvocationContext, Phase } from '../interceptors/protocol/types.js';
import type { ChainReport } from '../interceptors/reports.js';

/** What a client's chain is, and what it may take. */
export interface ClientBoundaryOptions {
  /** The client's name, which reports bear as their `server`. */
  readonly name?: string;
  /** The interceptors: an `InterceptorChain`, as `InterceptorChain.discover(hosts)` returns it. */
  readonly chain: ChainSource;
  /** What the chain may take for one message, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number;
  /** Configuration by `name` or `host/name`; it wins over an override's. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Told of every run of the chain, as it ends. */
  readonly onReport?: (report: ChainReport) => void;
}

/** Params as interceptors see them: the bare ones. */
export type Payload = Readonly<Record<string, unknown>>;

/** One request and its answer, as they cross the boundary. */
export interface Crossing {
  readonly method: string;
  /** `out`: this client asks the server. `in`: the server asks this client. */
  readonly way: 'out' | 'in';
  readonly params: Payload;
  readonly signal?: AbortSignal;
  /** Bounds each phase of the chain further, in milliseconds. */
  readonly timeoutMs?: number;
  readonly context?: InvocationContext;
  /** The negotiated revision; undefined before there is one. */
  protocolVersion(chain: Chain): Promise<string | undefined>;
}

/** What one crossing's phases share. */
interface Running {
  readonly crossing: Crossing;
  /** What interceptors hook. */
  readonly event: string;
  readonly chain: Chain;
  readonly bag: Map<unknown, unknown>;
  readonly context: InvocationContext;
  readonly protocolVersion: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Runs the chain around everything between a client and its server. What the client sends, requests of its own and
 * answers to the server's, is mutated, then validated; what it receives is validated, then mutated.
 */
export class ClientBoundary {
  constructor(private readonly options: ClientBoundaryOptions) {}

  /**
   * Lets a request pass, has it carried out, and lets its answer pass.
   * @throws McpException for a message that was refused, SdkError where the caller gave up, or whatever `work` throws
   */
  async around(crossing: Crossing, work: (params: Payload) => Promise<Result>): Promise<Result> {
    const running = await this.enter(crossing);
    const request = await this.run(running, 'request', crossing.params);
    const params = request.finalPayload as Payload;
    const answer = request.response ? synthetic(crossing.method, request.response) : await work(params);
    const { finalPayload } = await this.run(running, 'response', answer, params);
    // A mutator may have made another result, without the mark.
    return request.response ? marked(finalPayload as Result, request.response) : (finalPayload as Result);
  }

  /**
   * Lets a request pass that has no answer of its own.
   * @returns its params; undefined where an interceptor answered it, so that it is not to be sent
   * @throws McpException where it was refused, SdkError where the caller gave up
   */
  async admit(crossing: Crossing): Promise<Payload | undefined> {
    const { response, finalPayload } = await this.run(await this.enter(crossing), 'request', crossing.params);
    return response ? undefined : (finalPayload as Payload);
  }

  private async enter(crossing: Crossing): Promise<Running> {
    const chain = await this.chainFor(crossing.signal);
    const { method, context } = crossing;
    const event = EVENT_OF[method] ?? method;
    const isHooked = chain.hooks(event, 'request') || chain.hooks(event, 'response');
    return {
      crossing,
      event,
      chain,
      bag: new Map(),
      context: frozenCopy({ timestamp: new Date().toISOString(), ...context }),
      protocolVersion: isHooked ? await crossing.protocolVersion(chain) : undefined,
    };
  }

  /** @throws McpException where a remote host could not be asked: nothing passes unchecked */
  private async chainFor(signal: AbortSignal | undefined): Promise<Chain> {
    assertWanted(signal);
    const { chain, timeoutMs = DEFAULT_TIMEOUT_MS } = this.options;
    try {
      // Nobody chooses hosts for a client's messages, so that there is nothing to let go of.
      return (await chain.current(signal, undefined, timeoutMs)).chain;
    } catch (error) {
      assertWanted(signal);
      if (error instanceof McpBootstrapError) throw error;
      throw Object.assign(undiscovered(), { cause: error });
    }
  }

  private async run(
    { crossing, event, chain, bag, context, protocolVersion }: Running,
    phase: Phase,
    payload: unknown,
    request?: unknown,
  ): Promise<ChainResult> {
    const { method, way, signal } = crossing;
    if (!chain.hooks(event, phase)) return passed({ event, phase, payload });
    const { name, timeoutMs: own = DEFAULT_TIMEOUT_MS, config, onReport } = this.options;
    const timeoutMs = Math.min(own, crossing.timeoutMs ?? Infinity);
    const direction = (way === 'out') === (phase === 'request') ? 'send' : 'receive';
    const server = name !== undefined && { server: name };
    const result = await chain.run(
      {
        event,
        phase,
        direction,
        payload,
        request,
        context,
        bag,
        timeoutMs,
        checkPayload: payloadCheck(method, phase),
        checkResponse: answerCheck(method),
        ...(signal && { signal }),
        ...(config && { config }),
        ...(protocolVersion !== undefined && { protocolVersion }),
      },
      whole => onReport?.({ ...server, direction, result: whole, context }),
    );
    assertWanted(signal);
    if (result.status !== 'success') throw denialOf(result, timeoutMs);
    return result;
  }
}

/** @throws SdkError, as the SDK's verbs do, where the caller gave up */
export function assertWanted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  const reason: unknown = signal.reason;
  throw reason instanceof SdkError ? reason : new SdkError(SdkErrorCode.RequestTimeout, String(reason));
}
