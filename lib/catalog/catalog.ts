import type { Result, ServerCapabilities } from '@modelcontextprotocol/server';
import type { McpCall } from '../protocol/mcp-call.js';
import {
  itemOf,
  LIST_OF,
  listOf,
  METHODS,
  perList,
  type ListMethod,
  type NamedItem,
} from '../protocol/methods.js';
import { enumValues } from '../schema/input-properties.js';
import {
  completionKey,
  type CompletionEntry,
  type Entry,
  type PromptEntry,
  type ResourceEntry,
  type ResourceTemplateEntry,
  type ToolEntry,
} from './entries.js';

/** A list result in pages. The same cursor always returns the same object. */
export interface Pages {
  /** Returns undefined for an unknown cursor. */
  page(cursor?: string): Result | undefined;
  pageWith(has: (items: readonly object[]) => boolean): Result | undefined;
}

/**
 * @param member the field of the result that holds the items
 * @param more further fields of each page
 */
export function paginate(member: string, all: readonly object[], pageSize: number, more: object = {}): Pages {
  const pages = new Map<string | undefined, Result>();
  let cursor: string | undefined;
  for (let start = 0; start === 0 || start < all.length; start += pageSize) {
    const end = start + pageSize;
    const nextCursor = end < all.length ? Buffer.from(`item:${end}`).toString('base64url') : undefined;
    pages.set(cursor, {
      ...more,
      [member]: all.slice(start, end),
      ...(nextCursor !== undefined && { nextCursor }),
    });
    cursor = nextCursor;
  }
  return {
    page: name => pages.get(name),
    pageWith: has => [...pages.values()].find(page => has(page[member] as object[])),
  };
}

/**
 * The capabilities to declare, even if their handlers are added only at run time. Default: derived from the handlers.
 */
export type DeclaredCapabilities = Partial<
  Record<'tools' | 'prompts' | 'resources' | 'completions', boolean>
>;

interface CatalogOptions {
  readonly pageSize: number;
  readonly declare: DeclaredCapabilities;
}

export type Completer = CompletionEntry | readonly string[];

/** A handler that can answer for a URI, and the decoded variables if it is a template. */
export interface Reader {
  readonly entry: ResourceEntry | ResourceTemplateEntry;
  readonly variables?: Record<string, string | string[]>;
}

/** All handlers of a server, compiled. The object is immutable: a change creates a new catalogue. */
export class Catalog {
  readonly tools = new Map<string, ToolEntry>();
  readonly prompts = new Map<string, PromptEntry>();
  readonly resources = new Map<string, ResourceEntry>();
  readonly resourceTemplates = new Map<string, ResourceTemplateEntry>();
  private readonly completers = new Map<string, Completer>();
  /** Sorted so that a template with more literal text matches first. */
  private readonly matchers: readonly ResourceTemplateEntry[];

  readonly pages: Readonly<Record<ListMethod, Pages>>;
  readonly capabilities: ServerCapabilities;
  readonly pageSize: number;
  /** All handlers except completions, which belong to their prompt or template. */
  readonly listed: readonly Entry[];
  /** Whether `@Visible` may hide any handler. */
  readonly hasHidden: boolean;

  constructor(entries: Iterable<Entry>, options: CatalogOptions) {
    const all = [...entries];
    for (const entry of all) this.add(entry);
    this.pageSize = options.pageSize;
    this.listed = all.filter(({ kind }) => kind !== 'completion');
    this.hasHidden = all.some(({ run }) => run.hidingGuard);
    this.addEnumCompleters();
    this.matchers = [...this.resourceTemplates.values()].sort(
      (a, b) => b.template.specificity - a.template.specificity,
    );
    this.pages = perList(method => {
      const { lists } = listOf(method);
      const entries: ReadonlyMap<string, { definition: object }> = this[lists];
      const definitions = Array.from(entries.values(), ({ definition }) => definition);
      return paginate(lists, definitions, options.pageSize);
    });
    this.capabilities = this.capabilitiesOf(options.declare);
  }

  /** The handlers that can answer for a URI, the preferred handler first. Callers who do not see it get a later handler. */
  *readersOf(uri: string): Generator<Reader, undefined> {
    const resource = this.resources.get(uri);
    if (resource) yield { entry: resource };
    for (const entry of this.matchers) {
      const variables = entry.template.match(uri);
      if (variables) yield { entry, variables };
    }
  }

  /** The handler of a call, as far as its params name one. */
  handlerOf({ method, params }: Pick<McpCall, 'method' | 'params'>): Entry | undefined {
    const item = METHODS.get(method)?.canAsk && itemOf(method, params);
    return item && this.entriesOf(item)[0];
  }

  /** The handlers of an item, the preferred handler first. */
  entriesOf({ kind, id }: NamedItem): readonly Entry[] {
    if (typeof id !== 'string') return [];
    if (kind === 'resource') return Array.from(this.readersOf(id), ({ entry }) => entry);
    const known = this[listOf(LIST_OF[kind]).lists].get(id);
    // Clients also complete the URI of a resource without variables.
    const entry = known ?? (kind === 'resource template' ? this.resources.get(id) : undefined);
    return entry ? [entry] : [];
  }

  completer(kind: 'prompt' | 'resource template', name: string, argument: string): Completer | undefined {
    return this.completers.get(completionKey(kind, name, argument));
  }

  private add(entry: Entry): void {
    const maps = {
      tool: this.tools,
      prompt: this.prompts,
      resource: this.resources,
      'resource template': this.resourceTemplates,
      completion: this.completers,
    };
    (maps[entry.kind] as Map<string, Entry>).set(entry.key, entry);
  }

  private addEnumCompleters(): void {
    for (const { kind, key, inputJsonSchema } of [
      ...this.prompts.values(),
      ...this.resourceTemplates.values(),
    ]) {
      if (inputJsonSchema === undefined) continue;
      for (const argument of Object.keys(inputJsonSchema['properties'] ?? {})) {
        const values = enumValues(inputJsonSchema, argument);
        const completion = completionKey(kind, key, argument);
        if (values !== undefined && !this.completers.has(completion)) this.completers.set(completion, values);
      }
    }
  }

  private capabilitiesOf(declare: DeclaredCapabilities): ServerCapabilities {
    const resources = this.resources.size + this.resourceTemplates.size > 0;
    return {
      logging: {},
      ...((declare.tools ?? this.tools.size > 0) && { tools: { listChanged: true } }),
      ...((declare.prompts ?? this.prompts.size > 0) && { prompts: { listChanged: true } }),
      ...((declare.resources ?? resources) && { resources: { listChanged: true, subscribe: true } }),
      ...((declare.completions ?? this.completers.size > 0) && { completions: {} }),
    };
  }
}
