import type { Result } from '@modelcontextprotocol/server';
import type { McpCall, Params } from './mcp-call.js';

/** Answers a call. The params are apart from the call, which keeps them as they came: interceptors may change them. */
export type Answer = (call: McpCall, params: Params) => Promise<Result>;

/** Puts something around an answer. */
export type Stage = (next: Answer) => Answer;
