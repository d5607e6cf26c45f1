import type { Tool } from '@modelcontextprotocol/server';
import type MiniSearch from 'minisearch';
import { searchHintOf } from '../tool-hints.js';

/** What counts of a tool. */
interface Indexed {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly hint: string;
  readonly parameters: string;
}

const FIELDS = ['name', 'title', 'description', 'hint', 'parameters'];

/** Finds tools by the words of their names, descriptions, hints and parameters. */
export class ToolIndex {
  private readonly search: MiniSearch<Indexed>;

  constructor(Search: typeof MiniSearch, tools: Iterable<Tool>) {
    this.search = new Search<Indexed>({
      fields: FIELDS,
      tokenize: wordsOf,
      processTerm: stemOf,
      searchOptions: { prefix: term => term.length > 3 },
    });
    this.search.addAll(Array.from(tools, rowOf));
  }

  /**
   * @param isShown whether the caller sees a tool
   * @returns the names of the best tools, the best first
   */
  find(query: string, limit: number, isShown: (name: string) => boolean): string[] {
    const found = this.search.search(query, { filter: ({ id }) => isShown(id as string) });
    return found.slice(0, limit).map(({ id }) => id as string);
  }
}

function rowOf(tool: Tool): Indexed {
  const { name, title = '', description = '', inputSchema } = tool;
  const parameters = Object.keys(inputSchema.properties ?? {}).join(' ');
  return { id: name, name, title, description, hint: searchHintOf(tool), parameters };
}

/** `getInvoiceById` and `get_invoice_by_id` have the same words. */
const wordsOf = (text: string): string[] =>
  text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '');

/** `issues` and `issue` are the same word. */
function stemOf(word: string): string {
  const lower = word.toLowerCase();
  return lower.length > 3 ? lower.replace(/(?<!s)s$/, '') : lower;
}
