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

type PayloadCheck = (payload: unknown) => string | undefined;

const checkOf =
  (type: SpecType): PayloadCheck =>
  payload => {
    const result = specTypeSchemas[type]['~standard'].validate(payload);
    return result instanceof Promise || result.issues === undefined ? undefined : `it is no ${type}`;
  };

const CHECKS = new Map(
  Object.entries(TYPES).map(([method, { request, response }]): [string, Record<Phase, PayloadCheck>] => [
    method,
    { request: checkOf(request), response: checkOf(response) },
  ]),
);

/** What says whether a payload still is what a method carries, as `Chain.execute` takes it. */
export const payloadCheck = (method: string, phase: Phase): PayloadCheck | undefined =>
  CHECKS.get(method)?.[phase];
