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

/** How much a word in a field counts. */
const BOOST = { name: 4, title: 3, hint: 3, description: 2, parameters: 1 };
const FIELDS = Object.keys(BOOST);

/** Words of a question that say nothing about a tool. */
const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from have how i in is it its me my of on or our show so that the their them there this to us was we what when where which who with you your'.split(
    ' ',
  ),
);

/** Finds tools by the words of their names, descriptions, hints and parameters. */
export class ToolIndex {
  private readonly search: MiniSearch<Indexed>;

  constructor(Search: typeof MiniSearch, tools: Iterable<Tool>) {
    this.search = new Search<Indexed>({
      fields: FIELDS,
      tokenize: wordsOf,
      processTerm: stemOf,
      searchOptions: { boost: BOOST, prefix: term => term.length > 3, fuzzy: term => term.length > 4 && 1 },
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
function stemOf(word: string): string | undefined {
  const lower = word.toLowerCase();
  if (STOP_WORDS.has(lower)) return undefined;
  return lower.length > 3 ? lower.replace(/(?<!s)s$/, '') : lower;
}
