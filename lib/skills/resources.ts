import type { ReadResourceResult, Resource } from '@modelcontextprotocol/server';
import type { Skill } from '@modelcontextprotocol/server/ext/skills';
import { mimeTypeOf } from './directory.js';

const SCHEME = 'skill://';

/** The URI of a path, in the form that the SDK gives it in entries. */
export const uriOf = (path: string): string =>
  new URL(SCHEME + path.replace(/[%?#\\]/g, encodeURIComponent)).href;

export const pathOf = (uri: string): string => decodeURIComponent(uri.slice(SCHEME.length));

/** A skill in `resources/list`. */
export function rowOf({ uri, frontmatter, resources }: Skill): Resource {
  const { name, description } = frontmatter;
  const file = resources === 'dynamic' ? undefined : resources.find(one => one.uri === uri);
  return { uri, name, description, mimeType: 'text/markdown', ...(file && { size: file.size }) };
}

/** What `resources/read` returns for a file: a text if it is one, as its digest is of its bytes. */
export function contentsOf(uri: string, content: string | Uint8Array): ReadResourceResult {
  const text = typeof content === 'string' ? content : textOf(content);
  const of = { uri, mimeType: mimeTypeOf(uri) };
  if (text !== undefined) return { contents: [{ ...of, text }] };
  return { contents: [{ ...of, blob: Buffer.from(content as Uint8Array).toString('base64') }] };
}

/** Undefined for bytes that are not UTF-8. A byte order mark stays. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
