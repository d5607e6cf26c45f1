import type {
  CacheableRequestOptions,
  CallToolRequestOptions,
  Client,
  RequestOptions,
} from '@modelcontextprotocol/client';
import type { KnownTool } from '../connection/tool-definitions.js';
import type { InvocationContext } from '../interceptors/protocol/types.js';

export const INTERCEPTED_VERBS = {
  callTool: 'tools/call',
  listTools: 'tools/list',
  getPrompt: 'prompts/get',
  listPrompts: 'prompts/list',
  readResource: 'resources/read',
  listResources: 'resources/list',
  listResourceTemplates: 'resources/templates/list',
  complete: 'completion/complete',
  subscribeResource: 'resources/subscribe',
} as const;

export type InterceptedVerb = keyof typeof INTERCEPTED_VERBS;

export type ClientVerbs = Pick<
  Client,
  InterceptedVerb | 'listen' | 'ping' | 'request' | 'setLoggingLevel' | 'unsubscribeResource'
> & {
  /** The revision, once it is negotiated. Without it, `compat` of interceptors is not checked. */
  getNegotiatedProtocolVersion?(): string | undefined | Promise<string | undefined>;
};

interface Governed {
  context?: InvocationContext;
  /**
   * Time for each step, in milliseconds: the opening of the connection, each phase of the chain, and the request.
   * Default: the configured time of the step; 60,000 for the request.
   */
  timeout?: number;
}

// Without `allowInputRequired`: only handlers answer the input requests of a server, and the chain runs around them.
export type McpRequestOptions = Omit<RequestOptions, 'allowInputRequired'> & Governed;
export type McpListOptions = Omit<CacheableRequestOptions, 'allowInputRequired'> & Governed;
export type McpCallToolOptions = Omit<CallToolRequestOptions, 'allowInputRequired' | 'toolDefinition'> &
  Governed & {
    /** Definition of the tool for this call only, read when the call starts. Default: the known definition. */
    toolDefinition?: KnownTool;
  };
