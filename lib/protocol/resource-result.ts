import type { CacheHint, ReadResourceResult } from '@modelcontextprotocol/server';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { types } from 'node:util';
import type { ReplyChannel } from './mcp-call.js';
import { assertSendableAsResource, isStreamableFile } from './unsendable.js';

type Contents = ReadResourceResult['contents'][number];

/** What a read is labelled with where the handler does not say otherwise. */
export interface ResourceDefaults {
  readonly uri: string;
  readonly mimeType?: string;
  /** Absent on revisions that have no cache hints. */
  readonly cache?: CacheHint;
  /** Its signal fires when nobody waits for the read any more. */
  readonly reply: Pick<ReplyChannel, 'signal'>;
}

/**
 * What a resource returned, as the protocol has it: text, bytes (sent as Base64) or an object (sent as JSON).
 * @throws Error for a value that cannot be sent; what the stream of a `StreamableFile` fails with
 */
export async function toResourceResult(
  value: unknown,
  defaults: ResourceDefaults,
): Promise<ReadResourceResult> {
  assertSendableAsResource(value);
  const result = isReadResult(value)
    ? value
    : {
        contents:
          Array.isArray(value) && value.every(isContents) ? value : [await toContents(value, defaults)],
      };
  return { ...defaults.cache, ...result };
}

async function toContents(value: unknown, { uri, mimeType, reply }: ResourceDefaults): Promise<Contents> {
  if (isContents(value)) return value;
  if (types.isUint8Array(value)) {
    const blob = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
    return { uri, mimeType: mimeType ?? 'application/octet-stream', blob };
  }
  if (isStreamableFile(value)) {
    const blob = (await buffer(addAbortSignal(reply.signal, value.getStream()))).toString('base64');
    return { uri, mimeType: mimeType ?? value.getHeaders().type, blob };
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
