import type { ServerCapabilities } from '@modelcontextprotocol/server';

export interface MethodRule {
  /** The capability that a server needs to support the method. */
  readonly capability: keyof ServerCapabilities;
  /** Whether the handler may ask the client for input (2026-07-28: basic/patterns/mrtr). */
  readonly canAsk?: true;
  /** Whether the method exists only before 2026-07-28. */
  readonly isLegacy?: true;
  /** The field of the result that holds the list. */
  readonly lists?: string;
  /** The field that identifies an item of the list. */
  readonly key?: string;
}

const RULES = {
  'tools/list': { capability: 'tools', lists: 'tools', key: 'name' },
  'tools/call': { capability: 'tools', canAsk: true },
  'prompts/list': { capability: 'prompts', lists: 'prompts', key: 'name' },
  'prompts/get': { capability: 'prompts', canAsk: true },
  'resources/list': { capability: 'resources', lists: 'resources', key: 'uri' },
  'resources/templates/list': {
    capability: 'resources',
    lists: 'resourceTemplates',
    key: 'uriTemplate',
  },
  'resources/read': { capability: 'resources', canAsk: true },
  'resources/subscribe': { capability: 'resources', isLegacy: true },
  'resources/unsubscribe': { capability: 'resources', isLegacy: true },
  'completion/complete': { capability: 'completions' },
} as const satisfies Record<string, MethodRule>;

/** A method that a server answers from its catalogue, or a gateway from its backends. */
export type DispatchedMethod = keyof typeof RULES;

export type ListMethod = {
  [M in DispatchedMethod]: (typeof RULES)[M] extends { lists: string } ? M : never;
}[DispatchedMethod];

export const METHODS: ReadonlyMap<string, MethodRule> = new Map(Object.entries(RULES));

export const isList = (method: string): method is ListMethod => METHODS.get(method)?.lists !== undefined;

/** Whether a server with these capabilities supports a method. */
export const offers = (capabilities: object, method: string): boolean =>
  Object.hasOwn(capabilities, METHODS.get(method)?.capability ?? method.split('/')[0]);

export const listOf = (method: ListMethod): (typeof RULES)[ListMethod] => RULES[method];

export type Row = Readonly<Record<string, unknown>>;

export function rowsOf(method: ListMethod, result: unknown): readonly Row[] {
  const rows = (result as Row)[RULES[method].lists];
  return Array.isArray(rows) ? (rows as Row[]) : [];
}

export const DISPATCHED = Object.keys(RULES) as readonly DispatchedMethod[];
