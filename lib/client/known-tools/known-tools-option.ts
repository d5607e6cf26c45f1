import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isRecord } from '../../util/is-record.js';
import { reasonOf } from '../../schema/schema.error.js';
import type { KnownTool } from '../../connection/tool-definitions.js';

const MAX_BYTES = 8 * 1024 * 1024;

export type KnownToolsOption = readonly KnownTool[] | string;

/** @throws Error for a file that is missing, over 8 MiB, or without a list of tools */
export function knownToolsOf(option: KnownToolsOption): readonly KnownTool[] {
  if (typeof option !== 'string') return option;
  const path = resolve(option);
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const tools: unknown = isRecord(content) ? content['tools'] : content;
    if (!Array.isArray(tools))
      throw new Error('it holds neither a list of tools nor the result of a tools/list');
    return tools as KnownTool[];
  } catch (error) {
    throw new Error(`${path} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}
