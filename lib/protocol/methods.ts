import type { ServerCapabilities } from '@modelcontextprotocol/server';

/** What the server has to know of a method. */
export interface MethodRule {
  /** A server without this capability does not know the method. */
  readonly capability: keyof ServerCapabilities;
  /** The handler may ask the client for input (2026-07-28: basic/patterns/mrtr). */
  readonly canAsk?: true;
  /** 2026-07-28 does not know the method. */
  readonly isLegacy?: true;
  /** The member of the result that holds the list. */
  readonly lists?: string;
}

const RULES = {
  'tools/list': { capability: 'tools', lists: 'tools' },
  'tools/call': { capability: 'tools', canAsk: true },
  'prompts/list': { capability: 'prompts', lists: 'prompts' },
  'prompts/get': { capability: 'prompts', canAsk: true },
  'resources/list': { capability: 'resources', lists: 'resources' },
  'resources/templates/list': { capability: 'resources', lists: 'resourceTemplates' },
  'resources/read': { capability: 'resources', canAsk: true },
  'resources/subscribe': { capability: 'resources', isLegacy: true },
  'resources/unsubscribe': { capability: 'resources', isLegacy: true },
  'completion/complete': { capability: 'completions' },
} as const satisfies Record<string, MethodRule>;

/** A method that a server answers from its catalogue, or a gateway from its backends. */
export type DispatchedMethod = keyof typeof RULES;

/** The one table of these methods. */
export const METHODS: ReadonlyMap<string, MethodRule> = new Map(Object.entries(RULES));

export const DISPATCHED = Object.keys(RULES) as readonly DispatchedMethod[];
