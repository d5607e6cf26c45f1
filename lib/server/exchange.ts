import type {
  AuthInfo,
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  RequestId,
  RequestOptions,
  Result,
} from '@modelcontextprotocol/server';
import type { RoundMemory } from '../mrtr/replay/journal.js';
import type { HeaderParam } from '../headers/header-params.js';
import type { ClientChannel } from './upstream.js';

/** The protocol's two ways of talking: `modern` is 2026-07-28 and later, `legacy` everything before. */
export type Era = 'modern' | 'legacy';

/** The HTTP exchange that carries a message, as the platform (Express or Fastify) and Node know it. */
export interface HttpExchange {
  /** Express's or Fastify's request. */
  readonly request: object;
  /** Express's or Fastify's response. */
  readonly response: object;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * Compares the headers of a `tools/call` with the arguments that came with it (2026-07-28).
   * @throws McpException (-32020) where they differ
   */
  readonly assertMirrored?: (params: readonly HeaderParam[]) => void;
}

/** Sends a request to a client, and gives its answer as it came. */
export type AskClient = (
  method: string,
  params: Readonly<Record<string, unknown>> | undefined,
  options: Pick<RequestOptions, 'signal' | 'timeout' | 'onprogress' | 'resetTimeoutOnProgress'>,
) => Promise<Result>;

/** One request of a client, stripped of transport and SDK. */
export interface Exchange {
  readonly requestId: RequestId;
  readonly method: string;
  /** As they came over the wire. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly era: Era;
  readonly protocolVersion: string;
  readonly signal: AbortSignal;
  readonly sessionId?: string;
  readonly authInfo?: AuthInfo;
  readonly clientInfo?: Implementation;
  readonly clientCapabilities?: ClientCapabilities;
  readonly http?: HttpExchange;
  /** The request's `_meta`, less what the protocol itself keeps there. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Answers to an `input_required` result, of the latest round only. */
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  /** Keys of answers that were left out, because they are none. */
  readonly malformedResponses?: readonly string[];
  /** Lets answers pass the chain, where one is to see them: before anybody else does, and only those to what was asked. */
  readonly receive?: (
    responses: Readonly<Record<string, unknown>>,
  ) => Promise<Readonly<Record<string, unknown>>>;
  readonly requestState: <T>() => T | undefined;
  /** What stands in for a `requestState`, where all rounds of the call are in this process (2025 era). */
  readonly memory?: RoundMemory;
  /** Sends a notification on this request's own stream. */
  notify(method: string, params: Record<string, unknown>): Promise<void>;
  /** Sends a log message, if the client's level admits it. */
  log(level: LoggingLevel, data: unknown, logger?: string): Promise<void>;
  /** Whether `log` would send messages of a level. Default: it is not known. */
  admitsLog?(level: LoggingLevel): boolean;
  /** The least severe log message that the client wants for this request (2026-07-28). */
  readonly logLevel?: LoggingLevel;
  /** The client's lasting connection, where a server of another stands behind this one (2025 era). */
  readonly channel?: ClientChannel;
  /** Asks the client something on this request's own stream, where the connection carries requests to it (2025 era). */
  readonly ask?: AskClient;
  /** Resource subscriptions of this connection; absent where the revision has none (2026-07-28 listens instead). */
  readonly subscriptions?: Subscriptions;
}

/** The resources that one connection is subscribed to. */
export interface Subscriptions {
  has(uri: string): boolean;
  add(uri: string): void;
  delete(uri: string): void;
}
