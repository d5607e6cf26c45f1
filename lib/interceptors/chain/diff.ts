import { escaped } from '../../schema/json-schema.js';
import { isRecord } from '../../util/is-record.js';

export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** Maximum operations in a diff. A larger diff replaces the whole payload. */
const MAX_OPERATIONS = 1000;

/**
 * The difference as a JSON Patch (RFC 6902). It compares lists by index, in linear time, because callers choose the
 * payloads.
 */
export function diffOf(before: unknown, after: unknown): PatchOperation[] {
  const operations: PatchOperation[] = [];
  for (const operation of changes(before, after)) {
    if (operations.length === MAX_OPERATIONS) return [{ op: 'replace', path: '', value: after }];
    operations.push(operation);
  }
  return operations;
}

export function* changes(before: unknown, after: unknown, path = ''): Generator<PatchOperation> {
  if (Object.is(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) yield* listChanges(before, after, path);
  else if (isRecord(before) && isRecord(after)) yield* recordChanges(before, after, path);
  else yield { op: 'replace', path, value: after };
}

function* listChanges(before: unknown[], after: unknown[], path: string): Generator<PatchOperation> {
  const shared = Math.min(before.length, after.length);
  for (let index = 0; index < shared; index++)
    yield* changes(before[index], after[index], `${path}/${index}`);
  // From the end, so that the remaining indexes stay valid.
  for (let index = before.length - 1; index >= shared; index--)
    yield { op: 'remove', path: `${path}/${index}` };
  for (let index = shared; index < after.length; index++) {
    yield { op: 'add', path: `${path}/${index}`, value: after[index] };
  }
}

type Fields = Readonly<Record<string, unknown>>;

function* recordChanges(before: Fields, after: Fields, path: string): Generator<PatchOperation> {
  for (const key of Object.keys(before)) {
    const place = `${path}/${escaped(key)}`;
    if (Object.hasOwn(after, key)) yield* changes(before[key], after[key], place);
    else yield { op: 'remove', path: place };
  }
  for (const key of Object.keys(after)) {
    if (!Object.hasOwn(before, key)) yield { op: 'add', path: `${path}/${escaped(key)}`, value: after[key] };
  }
}
