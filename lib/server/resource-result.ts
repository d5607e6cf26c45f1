import type { CacheHint, ReadResourceResult } from '@modelcontextprotocol/server';

type Contents = ReadResourceResult['contents'][number];

/** What a read is labelled with where the handler does not say otherwise. */
export interface ResourceDefaults {
  readonly uri: string;
  readonly mimeType?: string;
  /** Absent on revisions that have no cache hints. */
  readonly cache?: CacheHint;
}

/** What a resource returned, as the protocol has it: text, bytes (sent as Base64) or an object (sent as JSON). */
export function toResourceResult(value: unknown, defaults: ResourceDefaults): ReadResourceResult {
  const result = isReadResult(value)
    ? value
    : { contents: Array.isArray(value) && value.every(isContents) ? value : [toContents(value, defaults)] };
  return { ...defaults.cache, ...result };
}

function toContents(value: unknown, { uri, mimeType }: ResourceDefaults): Contents {
  if (isContents(value)) return value;
  if (value instanceof Uint8Array) {
    const blob = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
    return { uri, mimeType: mimeType ?? 'application/octet-stream', blob };
  }
  if (typeof value === 'string') return { uri, mimeType: mimeType ?? 'text/plain', text: value };
  return { uri, mimeType: mimeType ?? 'application/json', text: JSON.stringify(value ?? null) };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const isContents = (value: unknown): value is Contents =>
  isObject(value) &&
  typeof value['uri'] === 'string' &&
  (typeof value['text'] === 'string' || typeof value['blob'] === 'string');

const isReadResult = (value: unknown): value is ReadResourceResult =>
  isObject(value) && Array.isArray(value['contents']);
