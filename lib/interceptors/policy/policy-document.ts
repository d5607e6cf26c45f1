import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { messageOf } from '../../util/message-of.js';
import { PolicyError } from './policy-error.js';

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

export interface PolicyDocument {
  /** Plain data; null for an empty document. */
  readonly value: unknown;
  /** Where a member stands in the file. */
  readonly positionOf: (steps: readonly string[]) => { line: number; column: number };
}

/** @throws PolicyError for a text that the parser of its format refuses */
export function parsePolicy(text: string, format: PolicyFormat, file: string): PolicyDocument {
  const lines = new LineCounter();
  try {
    if (format === 'json') JSON.parse(text);
    // JSON is YAML, too, and only the YAML parser keeps positions.
    const document = parseDocument(text, { ...OPTIONS, lineCounter: lines });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw problem;
    const value: unknown = document.toJS();
    return {
      value,
      positionOf(steps) {
        const { line, col } = lines.linePos(offsetOf(document, steps));
        return { line, column: col };
      },
    };
  } catch (error) {
    const [message] = messageOf(error).split(/:?\n/, 1);
    throw new PolicyError(`is not valid ${format.toUpperCase()}: ${message}`, { file }, { cause: error });
  }
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
