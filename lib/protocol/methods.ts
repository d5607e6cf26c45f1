import type { ServerCapabilities } from '@modelcontextprotocol/server';
import type { Params } from './mcp-call.js';

/** What a list can hold, and a request can name. */
export type ItemKind = 'tool' | 'prompt' | 'resource' | 'resource template';

export interface MethodRule {
  /** The capability that a server needs to support the method. */
  readonly capability: keyof ServerCapabilities;
  /** The kind of the items of a list, or of the item that a request names. */
  readonly kind?: ItemKind;
  /** The field of the result that holds the list. A catalogue has the items under the same name. */
  readonly lists?: 'tools' | 'prompts' | 'resources' | 'resourceTemplates';
  /** The field that identifies an item of the list. */
  readonly key?: 'name' | 'uri' | 'uriTemplate';
  /** The field of the params that names an item. A `ref` names a prompt, a resource or a template. */
  readonly names?: 'name' | 'uri' | 'ref';
  /** Whether the `Mcp-Name` header repeats the name (2026-07-28: basic/transports/streamable-http). */
  readonly hasNameHeader?: true;
  /** Whether the handler may ask the client for input (2026-07-28: basic/patterns/mrtr). */
  readonly canAsk?: true;
  /** Whether the method exists only before 2026-07-28. */
  readonly isLegacy?: true;
  /** Whether the method only ends something. Then it needs no permission, and interceptors do not see it. */
  readonly onlyEnds?: true;
  /** The event of interceptors. Default: the method. */
  readonly event?: string;
}

/** The methods of a server. What differs between them is a column of this table. */
const RULES = {
  'tools/list': { capability: 'tools', kind: 'tool', lists: 'tools', key: 'name' },
  'tools/call': { capability: 'tools', kind: 'tool', names: 'name', hasNameHeader: true, canAsk: true },
  'prompts/list': { capability: 'prompts', kind: 'prompt', lists: 'prompts', key: 'name' },
  'prompts/get': { capability: 'prompts', kind: 'prompt', names: 'name', hasNameHeader: true, canAsk: true },
  'resources/list': { capability: 'resources', kind: 'resource', lists: 'resources', key: 'uri' },
  'resources/templates/list': {
    capability: 'resources',
    kind: 'resource template',
    lists: 'resourceTemplates',
    key: 'uriTemplate',
    event: 'resources/list',
  },
  'resources/read': {
    capability: 'resources',
    kind: 'resource',
    names: 'uri',
    hasNameHeader: true,
    canAsk: true,
  },
  'resources/subscribe': { capability: 'resources', kind: 'resource', names: 'uri', isLegacy: true },
  'resources/unsubscribe': {
    capability: 'resources',
    kind: 'resource',
    names: 'uri',
    isLegacy: true,
    onlyEnds: true,
  },
  'completion/complete': { capability: 'completions', names: 'ref' },
} as const satisfies Record<string, MethodRule>;

/** The requests to a client, and the capability that a client declares for them. */
export const INPUT_RULES = {
  'elicitation/create': { capability: 'elicitation', value: { form: {} } },
  'sampling/createMessage': { capability: 'sampling', value: {} },
  'roots/list': { capability: 'roots', value: {} },
} as const;

/** The method that subscribes to changes (2026-07-28). */
export const LISTEN = 'subscriptions/listen';

/** The methods that need no handlers. */
const OTHERS = ['initialize', 'ping', 'server/discover', LISTEN, 'logging/setLevel'];

/** The methods of the interceptors extension, in both spellings that are in use. */
export const INTERCEPTOR_METHODS = ['interceptors/list', 'interceptor/invoke', 'interceptors/invoke'];

/** A method that a server answers from its catalogue, or a gateway from its backends. */
export type DispatchedMethod = keyof typeof RULES;

export type ListMethod = {
  [M in DispatchedMethod]: (typeof RULES)[M] extends { lists: string } ? M : never;
}[DispatchedMethod];

/** A method that names an item, or the `ref` of a completion. */
export type NamingMethod = Exclude<DispatchedMethod, ListMethod>;

/** A request to a client, which asks for input. */
export type InputMethod = keyof typeof INPUT_RULES;

export const METHODS: ReadonlyMap<string, MethodRule> = new Map(Object.entries(RULES));

export const DISPATCHED = Object.keys(RULES) as readonly DispatchedMethod[];

export const INPUT_METHODS = Object.keys(INPUT_RULES) as readonly InputMethod[];

/** Every request of the protocol, to a server or to a client. */
export const REQUESTS: ReadonlySet<string> = new Set([
  ...DISPATCHED,
  ...INPUT_METHODS,
  ...OTHERS,
  ...INTERCEPTOR_METHODS,
]);

/** Whether the handler of a method may ask the client for input. Methods of extensions may. */
export const mayAsk = (method: string): boolean => METHODS.get(method)?.canAsk ?? !REQUESTS.has(method);

/** The methods whose reply stays open, until the client or the server ends it. */
export const LASTING: ReadonlySet<string> = new Set([LISTEN]);

export const isList = (method: string): method is ListMethod => METHODS.get(method)?.lists !== undefined;

/** Whether a server with these capabilities supports a method. */
export const offers = (capabilities: object, method: string): boolean =>
  Object.hasOwn(capabilities, METHODS.get(method)?.capability ?? method.split('/')[0]);

export const listOf = (method: ListMethod): (typeof RULES)[ListMethod] => RULES[method];

const LISTS = DISPATCHED.filter(isList);

/** Methods whose results may have a cache hint (2026-07-28: server/utilities/caching). */
export const CACHEABLE = [...LISTS, 'resources/read', 'server/discover', 'interceptors/list'] as const;

export type CacheableMethod = (typeof CACHEABLE)[number];

export const perList = <T>(of: (method: ListMethod) => T): Readonly<Record<ListMethod, T>> =>
  Object.fromEntries(LISTS.map(method => [method, of(method)])) as Record<ListMethod, T>;

/** The list that shows the items of a kind. */
export const LIST_OF = Object.fromEntries(LISTS.map(method => [listOf(method).kind, method])) as Readonly<
  Record<ItemKind, ListMethod>
>;

/** An item that a request names. The client may have sent an `id` of any type. */
export interface NamedItem {
  readonly kind: ItemKind;
  readonly field: 'name' | 'uri';
  readonly id: unknown;
}

/** The item that a request names. Other fields do not count, because callers could add them. */
export function itemOf(method: NamingMethod, params: Params): NamedItem;
export function itemOf(method: string, params: Params): NamedItem | undefined;
export function itemOf(method: string, params: Params): NamedItem | undefined {
  const { kind, names } = METHODS.get(method) ?? {};
  if (names === undefined) return undefined;
  if (names !== 'ref') return { kind: kind!, field: names, id: params[names] };
  const { type, name, uri } = (params['ref'] ?? {}) as Params;
  return type === 'ref/prompt'
    ? { kind: 'prompt', field: 'name', id: name }
    : { kind: 'resource template', field: 'uri', id: uri };
}

export type Row = Readonly<Record<string, unknown>>;

export function rowsOf(method: ListMethod, result: unknown): readonly Row[] {
  const rows = (result as Row)[RULES[method].lists];
  return Array.isArray(rows) ? (rows as Row[]) : [];
}
