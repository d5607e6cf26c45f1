import type { CallToolResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import { isRecord } from '../util/is-record.js';
import type { ToolResult } from './tool-call.js';

type Texts = Pick<CallToolResult, 'content'> | GetPromptResult | ReadResourceResult;

/**
 * The text of a result: of a tool, a prompt or a resource. Several texts are joined by line breaks; pictures and other content
 * are left out.
 * @example
 * ```ts
 * expect(textOf(await client.callTool({ name: 'ping' }))).toBe('pong');
 * ```
 */
export function textOf(result: Texts): string {
  return partsOf(result)
    .flatMap(part => (isRecord(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n');
}

/**
 * The structured content of a tool's result; without it, its text as JSON. A result of `client.call` has the type that
 * the method returns.
 * @throws Error for a result that says neither, and for a tool error
 * @example
 * ```ts
 * const order = jsonOf<Order>(await client.callTool({ name: 'order', arguments: { id: 7 } }));
 * ```
 */
export function jsonOf<T = unknown>(result: ToolResult<T>): T {
  if (result.isError === true) throw new Error(`The tool failed: ${textOf(result)}`);
  if (result.structuredContent !== undefined) return result.structuredContent as T;
  const text = textOf(result);
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Error(`The result has no structured content, and its text is no JSON: ${text}`);
  }
}

/**
 * Checks that a tool answered with an error that its model can read.
 * @param expected a part of the text, or a pattern. Default: any text
 * @returns the text
 * @throws Error if the tool succeeded, or says something else
 * @example
 * ```ts
 * expectToolError(await client.callTool({ name: 'refund', arguments: { id: 0 } }), 'does not exist');
 * ```
 */
export function expectToolError(result: CallToolResult, expected: string | RegExp = ''): string {
  const text = textOf(result);
  if (result.isError !== true) throw new Error(`The tool succeeded: ${text}`);
  const isExpected = typeof expected === 'string' ? text.includes(expected) : expected.test(text);
  if (!isExpected) throw new Error(`The tool failed in another way than ${String(expected)}: ${text}`);
  return text;
}

function partsOf(result: Texts): readonly unknown[] {
  const { content, messages, contents } = result as Partial<
    Pick<CallToolResult, 'content'> & GetPromptResult & ReadResourceResult
  >;
  return content ?? contents ?? messages?.map(message => message.content) ?? [];
}
