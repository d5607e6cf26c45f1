import type {
  CallToolResult,
  CompleteResult,
  CreateMessageResult,
  ElicitResult,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListRootsResult,
  ListToolsResult,
  LoggingMessageNotificationParams,
  ProgressNotificationParams,
  ReadResourceResult,
} from '@modelcontextprotocol/server';
import type { Phase } from './protocol/types.js';

/** The params of `tools/list`, `prompts/list` and `resources/list`: a page of the list. */
export interface ListParams {
  /** From the earlier page. Default: the first page. */
  readonly cursor?: string;
}

/** The params of `tools/call`. */
export interface CallToolParams {
  readonly name: string;
  /** Not yet validated against the tool's schema. */
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** The params of `prompts/get`. */
export interface GetPromptParams {
  readonly name: string;
  /** Not yet validated against the prompt's schema. */
  readonly arguments?: Readonly<Record<string, string>>;
}

/** The params of `resources/read` and `resources/subscribe`. */
export interface ResourceParams {
  readonly uri: string;
}

/** A page of resources or of templates. Distinguish them by their field: `payload.resources ? … : undefined`. */
export type ResourceListing =
  | (ListResourcesResult & { readonly resourceTemplates?: undefined })
  | (ListResourceTemplatesResult & { readonly resources?: undefined });

type AnyObject = Readonly<Record<string, unknown>>;

/** The payloads of the protocol's events: the params in the request phase, the result in the response phase. */
export interface InterceptionPayloads {
  'tools/list': { request: ListParams; response: ListToolsResult };
  'tools/call': { request: CallToolParams; response: CallToolResult };
  'prompts/list': { request: ListParams; response: ListPromptsResult };
  'prompts/get': { request: GetPromptParams; response: GetPromptResult };
  'resources/list': { request: ListParams; response: ResourceListing };
  'resources/read': { request: ResourceParams; response: ReadResourceResult };
  'resources/subscribe': { request: ResourceParams; response: AnyObject };
  'completion/complete': { request: AnyObject; response: CompleteResult };
  'sampling/createMessage': { request: AnyObject; response: CreateMessageResult };
  'elicitation/create': { request: AnyObject; response: ElicitResult };
  'roots/list': { request: AnyObject; response: ListRootsResult };
  'notifications/progress': { request: ProgressNotificationParams; response: never };
  'notifications/message': { request: LoggingMessageNotificationParams; response: never };
}

/** An event of the protocol, or any other event. */
export type InterceptionEvent = keyof InterceptionPayloads | (string & {});

/** The payload of an event in a phase; `unknown` for an event that the protocol does not define. */
export type PayloadOf<E extends InterceptionEvent, P extends Phase> = E extends keyof InterceptionPayloads
  ? InterceptionPayloads[E][P]
  : unknown;
