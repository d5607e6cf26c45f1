import type { Result } from '@modelcontextprotocol/server';
import type { DispatchedMethod } from '../../protocol/methods.js';
import type { McpCall, Params } from '../../protocol/mcp-call.js';

export interface Listing {
  readonly method: DispatchedMethod;
  readonly result: Result;
  isShown(result: unknown): boolean;
  readonly refusal: Error;
}

export interface Listings {
  pageShowing(
    method: DispatchedMethod,
    params: Params,
    call: McpCall,
  ): Listing | undefined | Promise<Listing | undefined>;
}
