import type { Result } from '@modelcontextprotocol/server';
import type { McpCall, Params } from './mcp-call.js';

/**
 * Answers a call. Interceptors may change the params, so they are passed apart from the call, which keeps the original
 * params.
 */
export type Answer = (call: McpCall, params: Params) => Promise<Result>;

/** Wraps an answer. */
export type Stage = (next: Answer) => Answer;
