import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import type { CompiledSchema } from '../schema/types.js';
import { assertSendable, IF_INTERCEPTED } from './unsendable.js';

const CONTENT_TYPES = new Set<unknown>(['text', 'image', 'audio', 'resource', 'resource_link']);

/** A handler's return value does not match its schema. */
export class InvalidOutputError extends Error {}

/**
 * Converts a tool's return value to the protocol's result. With an output schema, the value becomes structured content,
 * otherwise content blocks. A `CallToolResult` stays as it is.
 * @throws InvalidOutputError that names the path of every violation; Error for a value that cannot be sent
 */
export function toToolResult(
  value: unknown,
  output: CompiledSchema | undefined,
): CallToolResult | Promise<CallToolResult> {
  if (typeof value === 'string' && output === undefined) return { content: [{ type: 'text', text: value }] };
  assertSendable(value);
  const result = isToolResult(value) ? value : undefined;
  if (output === undefined) return result ?? { content: toContent(value) };
  return result?.isError ? result : structured(value, result, output);
}

async function structured(
  value: unknown,
  result: CallToolResult | undefined,
  output: CompiledSchema,
): Promise<CallToolResult> {
  const structuredContent = await checkOutput(result ? result.structuredContent : value, output);
  // For clients that do not support structured content (specification: server/tools, structured content).
  const content: ContentBlock[] = result?.content ?? [
    { type: 'text', text: JSON.stringify(structuredContent) },
  ];
  return { ...result, content, structuredContent };
}

/** The text of a failure, for the model to read. */
export const toolError = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
});

/**
 * Checks a value, as it is sent, against its schema.
 * @throws InvalidOutputError that names the path of every violation
 */
export async function checkOutput(value: unknown, output: CompiledSchema): Promise<Record<string, unknown>> {
  const checked = await output.validate(toJson(value));
  if (!checked.ok) {
    const breaches = checked.issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
    throw new InvalidOutputError(
      `The result does not match the output schema: ${breaches.join('; ')} (${IF_INTERCEPTED})`,
    );
  }
  return toJson(checked.value) as Record<string, unknown>;
}

/** Converts the value to JSON, so that the check sees the value that is sent. */
export const toJson = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

function toContent(value: unknown): ContentBlock[] {
  if (value === undefined || value === null) return [];
  if (isContentBlock(value)) return [value];
  if (Array.isArray(value) && value.length > 0 && value.every(isContentBlock)) return value;
  return [{ type: 'text', text: JSON.stringify(value) }];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const isContentBlock = (value: unknown): value is ContentBlock =>
  isObject(value) && CONTENT_TYPES.has(value['type']);

function isToolResult(value: unknown): value is CallToolResult {
  if (!isObject(value)) return false;
  const { content, structuredContent, isError } = value;
  if (Array.isArray(content))
    return content.every(isContentBlock) && (content.length > 0 || onlyResultKeys(value));
  return content === undefined && (isObject(structuredContent) || isError === true) && onlyResultKeys(value);
}

const RESULT_KEYS = new Set(['content', 'structuredContent', 'isError', '_meta']);
const onlyResultKeys = (value: object): boolean => Object.keys(value).every(key => RESULT_KEYS.has(key));
