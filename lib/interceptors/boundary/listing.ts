import type { Result } from '@modelcontextprotocol/server';
import type { DispatchedMethod } from '../../protocol/methods.js';
import type { McpCall, Params } from '../../protocol/mcp-call.js';

/** The page of a list that shows something, and how to see whether it still does. */
export interface Listing {
  readonly method: DispatchedMethod;
  readonly result: Result;
  isShown(result: unknown): boolean;
  /** What a client is told of something that does not exist. */
  readonly refusal: Error;
}

/** What of the server's catalogue a boundary has to know, to keep what a list hides from being used. */
export interface Listings {
  /** The list, and the page of it, that shows what a call names; undefined where nothing does. */
  pageShowing(
    method: DispatchedMethod,
    params: Params,
    call: McpCall,
  ): Listing | undefined | Promise<Listing | undefined>;
}
