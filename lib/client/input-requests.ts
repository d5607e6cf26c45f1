import type {
  CreateMessageRequest,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitRequest,
  ElicitResult,
  ListRootsResult,
} from '@modelcontextprotocol/client';
import type { InputMethod } from '../protocol/methods.js';

/** The params and the result of each request that a server may send to a client, by method. */
export interface InputRequestTypes {
  'elicitation/create': { params: ElicitRequest['params']; result: ElicitResult };
  'sampling/createMessage': {
    params: CreateMessageRequest['params'];
    result: CreateMessageResult | CreateMessageResultWithTools;
  };
  'roots/list': { params: Readonly<Record<string, unknown>>; result: ListRootsResult };
}

/** The request that a handler of `@OnElicitation`, `@OnSampling` or `@OnRoots` answers. */
export interface InputRequestContext {
  /** Name of the client that the server asked; undefined for one without a name. */
  readonly client: string | undefined;
  /** The request's id; on 2026-07-28 its key among the `inputRequests`. */
  readonly requestId: string | number;
  /** Fires when the server no longer waits for the answer. */
  readonly signal: AbortSignal;
}

/** Answers a server. An `McpException` reaches the server as it is; any other error becomes a safe sentence. */
export type InputHandler<M extends InputMethod = InputMethod> = (
  params: InputRequestTypes[M]['params'],
  context: InputRequestContext,
) => InputRequestTypes[M]['result'] | Promise<InputRequestTypes[M]['result']>;
