import type { Catalog } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import type { HttpExchange, View } from '../protocol/mcp-call.js';
import type { Views } from '../protocol/server-extension.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { ALL, toolsetsOf } from './toolset.decorator.js';
import type { ToolsetSettings } from './toolset-options.js';

type Headers = HttpExchange['headers'];

/** What a request chooses. Without sets and tools, it chooses all tools. */
interface Choice {
  readonly sets: ReadonlySet<string>;
  readonly tools: ReadonlySet<string>;
  readonly excluded: ReadonlySet<string>;
  readonly isReadonly: boolean;
}

const READONLY = '/readonly';
const NOTHING: ReadonlySet<string> = new Set();

/** The whole server, at a URL where headers choose parts for others. */
const WHOLE: View = { key: '', isPrivate: true, has: () => true };

/** The parts of a server that `@Toolset` declares. */
export class ToolsetViews implements Views {
  private readonly suffix: RegExp;
  private readonly sets = new WeakMap<Entry, ReadonlySet<string>>();
  private known?: { readonly of: Catalog; readonly names: ReadonlySet<string> };

  constructor(
    private readonly settings: ToolsetSettings,
    private readonly server: () => McpServerInstance,
  ) {
    this.suffix = new RegExp(`(?:/${settings.segment}/([^/]+))?(${READONLY})?/?$`, 'i');
  }

  get names(): ReadonlySet<string> {
    const { catalog } = this.server();
    if (this.known?.of !== catalog) {
      const names = new Set(catalog.listed.flatMap(entry => [...this.setsOf(entry)]));
      names.delete(ALL);
      this.known = { of: catalog, names };
    }
    return this.known.names;
  }

  suffixes(): readonly string[] {
    const own = [...this.names].map(name => `/${this.settings.segment}/${name}`);
    return [READONLY, ...own.flatMap(path => [path, path + READONLY])];
  }

  suffixIn(path: string): string | undefined {
    const [suffix, list] = this.suffix.exec(path)!;
    return list === undefined || this.setsIn(list) ? suffix.replace(/\/$/, '') : undefined;
  }

  of(url: string, headers: Headers, isPart: boolean): View | undefined | false {
    const [path] = url.split(/[?#]/, 1);
    // Some routers decode it, and a part has one URL only, because tokens name it.
    if (isPart && /%(?!2c)/i.test(path.split('/').slice(-3).join())) return false;
    const [suffix, list, readonly] = this.suffix.exec(path)!;
    // A gateway has no handlers of its own.
    if (this.server().handlers.isRemote) return suffix.length > 1 ? false : undefined;
    const own = this.settings.headers ? headers : {};
    const sets = this.setsIn(list ?? textOf(own, 'x-mcp-toolsets'));
    if (!sets || (list !== undefined && sets.size === 0)) return false;
    const excluded = listIn(textOf(own, 'x-mcp-exclude-tools'));
    const tools = list === undefined ? listIn(textOf(own, 'x-mcp-tools')) : NOTHING;
    const isReadonly = readonly !== undefined || /^(true|1)$/i.test(textOf(own, 'x-mcp-readonly'));
    if (sets.size + tools.size + excluded.size === 0 && !isReadonly) {
      if (isPart) return false;
      return this.settings.headers ? WHOLE : undefined;
    }
    const choice = { sets, tools, excluded, isReadonly };
    return {
      key: JSON.stringify([...[sets, tools, excluded].map(names => [...names].sort()), isReadonly]),
      isPrivate: this.settings.headers,
      has: entry => this.isChosen(entry as Entry, choice),
    };
  }

  /** Prompts and resources without a set are in all sets, and so are the views of tools (SEP-1865). */
  private isChosen(entry: Entry, { sets, tools, excluded, isReadonly }: Choice): boolean {
    const own = this.setsOf(entry);
    const isInSet = sets.size > 0 && [...own].some(name => sets.has(name));
    const isForAll = own.size === 0 || sets.size === 0 || entry.key.startsWith('ui://');
    if (entry.kind !== 'tool') return isForAll || isInSet;
    const { key, definition } = entry;
    if (own.has(ALL)) return !excluded.has(key);
    if (excluded.has(key) || (isReadonly && definition.annotations?.readOnlyHint !== true)) return false;
    return sets.size + tools.size === 0 || isInSet || tools.has(key);
  }

  private setsOf(entry: Entry): ReadonlySet<string> {
    const sets = this.sets.get(entry) ?? new Set(toolsetsOf(entry.target));
    this.sets.set(entry, sets);
    return sets;
  }

  /** @returns undefined if one of the sets does not exist */
  private setsIn(text: string): ReadonlySet<string> | undefined {
    const sets = listIn(text);
    return [...sets].every(name => this.names.has(name)) ? sets : undefined;
  }
}

const textOf = (headers: Headers, name: string): string => [headers[name] ?? ''].flat().join(',');

/** @param text of a header, or of a path, in which a comma may be encoded */
function listIn(text: string): ReadonlySet<string> {
  const names = text.replace(/%2c/gi, ',').split(',');
  return new Set(names.map(name => name.trim()).filter(name => name !== ''));
}
