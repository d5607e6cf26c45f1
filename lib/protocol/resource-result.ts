import type { CacheHint, ReadResourceResult } from '@modelcontextprotocol/server';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { types } from 'node:util';
import type { ReplyChannel } from './mcp-call.js';
import { isRecord } from '../util/is-record.js';
import { assertSendableAsResource, isStreamableFile } from './unsendable.js';

type Contents = ReadResourceResult['contents'][number];

/** The labels of a read, used if the handler does not set them. */
export interface ResourceDefaults {
  readonly uri: string;
  readonly mimeType?: string;
  /** Absent on revisions without cache hints. */
  readonly cache?: CacheHint;
  /** Its signal aborts when the read is no longer needed. */
  readonly reply: Pick<ReplyChannel, 'signal'>;
}

/**
 * Converts a resource's return value to the protocol's result: text, bytes (sent as Base64) or an object (sent as
 * JSON).
 * @throws Error for a value that cannot be sent, and the error of a failed `StreamableFile`
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

const isContents = (value: unknown): value is Contents =>
  isRecord(value) &&
  typeof value['uri'] === 'string' &&
  (typeof value['text'] === 'string' || typeof value['blob'] === 'string');

const isReadResult = (value: unknown): value is ReadResourceResult =>
  isRecord(value) && Array.isArray(value['contents']);
