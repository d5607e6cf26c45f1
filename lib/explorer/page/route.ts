import type { Kind } from '../api.js';

/** Segments of links to handlers, by kind. */
const SEGMENTS: Readonly<Record<Kind, string>> = {
  tool: 'tools',
  prompt: 'prompts',
  resource: 'resources',
  'resource template': 'templates',
  completion: 'completions',
  method: 'methods',
};

const KINDS = new Map(Object.entries(SEGMENTS).map(([kind, segment]) => [segment, kind as Kind]));

/** The place that the fragment of the URL names: `#/tools/search/call?args={}`. */
export interface Route {
  readonly view: string;
  /** Set if the view is that of handlers. */
  readonly kind?: Kind;
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

export function routeOf(hash: string): Route {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s, 2);
  const [first = '', ...rest] = path.split('/').map(decoded);
  const kind = KINDS.get(first === '' ? 'tools' : first);
  return { view: kind ? 'handlers' : first, ...(kind && { kind }), rest, query: new URLSearchParams(query) };
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Named values of links that every view keeps, such as the server. */
let kept: Readonly<Record<string, string>> = {};
export const keep = (values: Readonly<Record<string, string>>): void => void (kept = values);

export function linkTo(segments: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams({ ...kept, ...query }).toString();
  return `#/${segments.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** The most characters of arguments in a link. */
export const MAX_LINKED = 2000;

export const linkToHandler = (
  kind: Kind,
  name: string,
  tab?: string,
  query?: Readonly<Record<string, string>>,
): string => linkTo([SEGMENTS[kind], name, ...(tab === undefined ? [] : [tab])], query);

/** Methods that call a handler, with its kind. */
export const KIND_OF: Readonly<Record<string, Kind>> = {
  'tools/call': 'tool',
  'prompts/get': 'prompt',
  'resources/read': 'resource',
};
