import type { Result } from '@modelcontextprotocol/server';
import type { McpCall, Params } from './mcp-call.js';
import type { DispatchedMethod } from './methods.js';

/** A page of a list. */
export interface Listing {
  readonly method: DispatchedMethod;
  readonly result: Result;
  isShown(result: unknown): boolean;
  readonly refusal: Error;
}

/** Finds the lists that show the handlers of a server. */
export interface Listings {
  /** The list page that shows the handler that a call names, as the caller sees it. */
  readonly pageShowing: (
    method: DispatchedMethod,
    params: Params,
    call: McpCall,
  ) => Listing | undefined | Promise<Listing | undefined>;
}
