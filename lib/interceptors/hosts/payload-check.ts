import { specTypeSchemas } from '@modelcontextprotocol/server';
import type { Phase } from '../protocol/types.js';

type SpecType = keyof typeof specTypeSchemas;

/** The protocol's types of what interceptors may change, by the method that carries them. */
const TYPES: Readonly<Record<string, Readonly<Record<Phase, SpecType>>>> = {
  'tools/list': { request: 'PaginatedRequestParams', response: 'ListToolsResult' },
  'tools/call': { request: 'CallToolRequestParams', response: 'CallToolResult' },
  'prompts/list': { request: 'PaginatedRequestParams', response: 'ListPromptsResult' },
  'prompts/get': { request: 'GetPromptRequestParams', response: 'GetPromptResult' },
  'resources/list': { request: 'PaginatedRequestParams', response: 'ListResourcesResult' },
  'resources/templates/list': { request: 'PaginatedRequestParams', response: 'ListResourceTemplatesResult' },
  'resources/read': { request: 'ReadResourceRequestParams', response: 'ReadResourceResult' },
  'resources/subscribe': { request: 'SubscribeRequestParams', response: 'EmptyResult' },
  'completion/complete': { request: 'CompleteRequestParams', response: 'CompleteResult' },
};

/** Whether a server is asked for an event, rather than asking for it. */
export const isServed = (event: string): boolean => Object.hasOwn(TYPES, event);

/** What says whether a payload still is what a method carries, as `Chain.execute` takes it. */
export function payloadCheck(
  method: string,
  phase: Phase,
): ((payload: unknown) => string | undefined) | undefined {
  const type = TYPES[method]?.[phase];
  if (type === undefined) return undefined;
  return payload => {
    const result = specTypeSchemas[type]['~standard'].validate(payload);
    if (result instanceof Promise || result.issues === undefined) return undefined;
    return `it is no ${type}`;
  };
}
