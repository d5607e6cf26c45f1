import { Logger } from '@nestjs/common';
import type { ToolEntry } from '../catalog/entries.js';
import { resolve } from '../options/check-options.js';
import { FLAG, objectOf, TEXT } from '../options/option-schema.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';

/** The option `hints` of `@Tool`: what hosts with many tools read. */
export interface ToolHints {
  /** Whether Claude loads the tool at the start, and not when it finds it by a search. Default: the host decides. */
  alwaysLoad?: boolean;
  /** Words by which a search should find the tool, besides its name and description. */
  searchHint?: string;
  /** Length of a text result, in characters, up to which Claude does not put it into a file. At most 500,000. */
  maxResultSizeChars?: number;
}

declare module '../decorators/handler-options.js' {
  interface ToolOptions {
    /** What hosts with many tools read. Needs `McpToolsetsModule` or `McpToolSearchModule`. Default: nothing. */
    hints?: ToolHints;
  }
}

export const HINTS = objectOf<ToolHints>({
  alwaysLoad: FLAG,
  searchHint: TEXT,
  maxResultSizeChars: { type: 'integer', minimum: 1, description: 'a number of characters' },
});

const OPTION = objectOf<{ hints: ToolHints }>({ hints: HINTS });

/** What hosts do with more is not known. */
const MAX_RESULT_SIZE = 500_000;
const MAX_ALWAYS_LOADED = 10;

/** Claude cuts descriptions there, in bytes. */
const MAX_DESCRIPTION = 2048;

/** The option of `@Tool` that writes hints into `_meta`. */
export const handlerOptions = {
  hints: (value: unknown, handler: object): void => {
    const { definition } = handler as ToolEntry;
    const { hints } = resolve(OPTION, { hints: value as ToolHints }, problem => new Error(problem));
    const own = Object.entries(hints).map(([name, hint]) => [`anthropic/${name}`, hint as unknown]);
    definition._meta = { ...definition._meta, ...(Object.fromEntries(own) as object) };
  },
};

/** The words of the option `searchHint` of a tool. */
export const searchHintOf = ({ _meta = {} }: { _meta?: Record<string, unknown> }): string =>
  (_meta['anthropic/searchHint'] as string | undefined) ?? '';

/** Warns of tools that hosts do not show as they are declared. */
export function warnOfHints({ catalog }: McpServerInstance): void {
  const logger = new Logger('McpToolsets');
  const tools = [...catalog.tools.values()];
  for (const { definition, where } of tools) {
    const { description = '', _meta = {} } = definition;
    const size = _meta['anthropic/maxResultSizeChars'] as number | undefined;
    if (Buffer.byteLength(description) > MAX_DESCRIPTION) {
      logger.warn(`${where}: its description is longer than 2 KB, and hosts cut the rest`);
    }
    if (size !== undefined && size > MAX_RESULT_SIZE) {
      logger.warn(`${where}: "hints.maxResultSizeChars" is more than 500,000, which hosts do not allow`);
    }
  }
  const loaded = tools.filter(({ definition }) => definition._meta?.['anthropic/alwaysLoad'] === true);
  if (loaded.length > MAX_ALWAYS_LOADED) {
    logger.warn(
      `${loaded.length} tools have "hints.alwaysLoad": each of them takes room in every conversation; keep it for at most ten`,
    );
  }
}
