import type { Result } from '@modelcontextprotocol/server';
import type { DispatchedMethod } from '../../protocol/methods.js';
import type { McpCall, Params } from '../../protocol/mcp-call.js';

export interface Listing {
  readonly method: DispatchedMethod;
  readonly result: Result;
  isShown(result: unknown): boolean;
  /** What a client is told of something that does not exist. */
  readonly refusal: Error;
}

export interface Listings {
  /** The list, and the page of it, that shows what a call names; undefined where nothing does. */
  pageShowing(
    method: DispatchedMethod,
    params: Params,
    call: McpCall,
  ): Listing | undefined | Promise<Listing | undefined>;
}
