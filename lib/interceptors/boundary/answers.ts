import type { CallToolResult, Result } from '@modelcontextprotocol/server';
import type { McpException } from '../../exceptions/mcp.exception.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import { METHODS } from '../../protocol/methods.js';
import { defined } from '../../util/defined.js';
import type { ChainResult, EntryResult } from '../chain/result.js';
import { SYNTHETIC_META, WARNINGS_META } from '../protocol/meta.js';

type Response = NonNullable<ChainResult['response']>;

/** An interceptor cannot know which of the two lists of resources it answers. */
export function synthetic(method: string, response: Response): Result {
  const own = METHODS.get(method)?.lists;
  const result = own === undefined || own in response.result ? response.result : { [own]: [] };
  return marked(result as Result, response);
}

export const marked = (result: Result, { interceptor }: Response): Result => ({
  ...result,
  _meta: { ...result._meta, [SYNTHETIC_META]: { interceptor } },
});

/** The same object for the same page, because the JSON of a page is kept with its object. */
const OWN_LISTS = new WeakMap<Result, Result>();

/** Marks a list that interceptors may change by caller (2026-07-28: server/utilities/caching). */
export function ownList(result: Result, { era }: McpCall): Result {
  if (era === 'legacy' || result['cacheScope'] === 'private') return result;
  const own = OWN_LISTS.get(result) ?? { ...result, cacheScope: 'private' };
  OWN_LISTS.set(result, own);
  return own;
}

export function toolError({ data, message }: McpException): CallToolResult {
  const { validationErrors = [] } = (data ?? {}) as {
    validationErrors?: { message: string; path?: string }[];
  };
  const said = validationErrors.map(({ path, message: text }) => (path ? `${path}: ${text}` : text));
  return { content: [{ type: 'text', text: [message, ...said].join('\n') }], isError: true };
}

export function withWarnings(result: Result, runs: readonly ChainResult[]): Result {
  const warnings = runs.flatMap(({ results }) => results.flatMap(warningsOf));
  return warnings.length === 0
    ? result
    : { ...result, _meta: { ...result._meta, [WARNINGS_META]: warnings } };
}

const warningsOf = ({ interceptor, mode, messages = [] }: EntryResult): object[] =>
  messages
    .filter(({ severity }) => mode !== 'audit' && severity !== 'error')
    .map(({ path, message, severity }) => defined({ interceptor, severity, message, path }));
