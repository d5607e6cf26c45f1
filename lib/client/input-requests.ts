import type {
  CreateMessageRequest,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitRequest,
  ElicitResult,
  ListRootsResult,
} from '@modelcontextprotocol/client';

/** What a server may ask of a client, and what it is answered. */
export interface InputRequestTypes {
  /** A form for the user, or a page to visit (specification: client/elicitation). */
  'elicitation/create': { params: ElicitRequest['params']; result: ElicitResult };
  /** A completion by a language model (specification: client/sampling). */
  'sampling/createMessage': {
    params: CreateMessageRequest['params'];
    result: CreateMessageResult | CreateMessageResultWithTools;
  };
  /** The folders that the client works on (specification: client/roots). */
  'roots/list': { params: Readonly<Record<string, unknown>>; result: ListRootsResult };
}

/** A request that a server makes of its client. */
export type InputMethod = keyof InputRequestTypes;

/** What a handler is told beside the params. */
export interface InputRequestContext {
  /** Name of the client that the server asked; undefined for one without a name. */
  readonly client: string | undefined;
  /** The request's id; on 2026-07-28 its key among the `inputRequests`. */
  readonly requestId: string | number;
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Answers a server. What it throws reaches the server as it stands if it is an `McpException`, else as a safe sentence. */
export type InputHandler<M extends InputMethod = InputMethod> = (
  params: InputRequestTypes[M]['params'],
  context: InputRequestContext,
) => InputRequestTypes[M]['result'] | Promise<InputRequestTypes[M]['result']>;

/** The capability that a client which answers a method declares, unless it was given more of it. */
export const INPUT_CAPABILITIES = {
  'elicitation/create': { name: 'elicitation', value: { form: {} } },
  'sampling/createMessage': { name: 'sampling', value: {} },
  'roots/list': { name: 'roots', value: {} },
} as const satisfies Record<InputMethod, { name: string; value: object }>;

export const INPUT_METHODS = Object.keys(INPUT_CAPABILITIES) as InputMethod[];
