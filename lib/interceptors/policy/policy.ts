import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { pathOf } from '../../options/check-options.js';
import { messageOf } from '../../util/message-of.js';
import { shapeProblemOf } from '../common-options.js';
import type { InterceptorOverride } from '../chain/entry.js';

export interface InterceptorPolicy {
  overrides: Record<string, InterceptorOverride>;
  config: Record<string, Record<string, unknown>>;
}

/** A policy that cannot be used. The message is `file:line:column: path: rule`; unknown parts are left out. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
}

/** YAML 1.2 with its core schema: no merge keys, and only tags of the core schema. */
const OPTIONS = {
  version: '1.2',
  schema: 'core',
  resolveKnownTags: false,
  stringKeys: true,
  prettyErrors: true,
  logLevel: 'error',
} as const;

export type PolicyFormat = 'json' | 'yaml';

/**
 * Reads a policy and checks its shape. It refuses an empty text, which may be an unfinished file.
 * @returns objects without a prototype, so that a name never finds an inherited property
 * @throws PolicyError
 */
export function readPolicy(text: string, format: PolicyFormat, file = `policy.${format}`): InterceptorPolicy {
  const lines = new LineCounter();
  let document: Document;
  let value: unknown;
  try {
    if (format === 'json') JSON.parse(text);
    // JSON is YAML, too, and only the YAML parser keeps positions.
    document = parseDocument(text, { ...OPTIONS, lineCounter: lines });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw problem;
    value = document.toJS();
  } catch (error) {
    const [message] = messageOf(error).split(/:?\n/, 1);
    throw new PolicyError(`${file}: is not valid ${format.toUpperCase()}: ${message}`, { cause: error });
  }
  if (value === null) throw new PolicyError(`${file}: is empty; write {} for a policy without entries`);
  const problem = shapeProblemOf(value);
  if (problem) {
    const { rule, steps } = problem;
    const { line, col } = lines.linePos(offsetOf(document, steps));
    const path = pathOf(steps);
    throw new PolicyError(`${file}:${line}:${col}: ${path && `${path}: `}${rule}`);
  }
  const { overrides, config } = value as Partial<InterceptorPolicy>;
  return { overrides: withoutPrototype(overrides), config: withoutPrototype(config) };
}

/** The offset of a member's key, or of the last step that exists. */
function offsetOf({ contents }: Document, steps: readonly string[]): number {
  let node: unknown = contents;
  let offset = contents?.range?.[0] ?? 0;
  for (const step of steps) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(key) === step);
      if (!pair) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(step)] as { range?: readonly number[] };
      offset = item.range?.[0] ?? offset;
      node = item;
    } else break;
  }
  return offset;
}

const withoutPrototype = <T>(record: Record<string, T> | null = null): Record<string, T> =>
  Object.assign(Object.create(null) as Record<string, T>, record);
