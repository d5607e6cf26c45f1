import { isInputRequiredResult, specTypeSchemas } from '@modelcontextprotocol/server';
import { isRecord } from '../../util/is-record.js';
import type { Phase } from '../protocol/types.js';

type SpecType = keyof typeof specTypeSchemas;
type Types = Readonly<Record<string, Readonly<Record<Phase, readonly SpecType[]>>>>;

const SERVED: Types = {
  'tools/list': { request: ['PaginatedRequestParams'], response: ['ListToolsResult'] },
  'tools/call': { request: ['CallToolRequestParams'], response: ['CallToolResult'] },
  'prompts/list': { request: ['PaginatedRequestParams'], response: ['ListPromptsResult'] },
  'prompts/get': { request: ['GetPromptRequestParams'], response: ['GetPromptResult'] },
  'resources/list': { request: ['PaginatedRequestParams'], response: ['ListResourcesResult'] },
  'resources/templates/list': {
    request: ['PaginatedRequestParams'],
    response: ['ListResourceTemplatesResult'],
  },
  'resources/read': { request: ['ReadResourceRequestParams'], response: ['ReadResourceResult'] },
  'resources/subscribe': { request: ['SubscribeRequestParams'], response: ['EmptyResult'] },
  'completion/complete': { request: ['CompleteRequestParams'], response: ['CompleteResult'] },
};

/** The same for what a client is asked for. A payload may be of any of the types; none are named for what has no type. */
const ASKED: Types = {
  'elicitation/create': { request: ['ElicitRequestParams'], response: ['ElicitResult'] },
  'sampling/createMessage': {
    request: ['CreateMessageRequestParams'],
    response: ['CreateMessageResult', 'CreateMessageResultWithTools'],
  },
  'roots/list': { request: [], response: ['ListRootsResult'] },
};

const TOLD: Types = {
  'notifications/progress': { request: ['ProgressNotificationParams'], response: [] },
  'notifications/message': { request: ['LoggingMessageNotificationParams'], response: [] },
};

export const isServed = (event: string): boolean => Object.hasOwn(SERVED, event);

type PayloadCheck = (payload: unknown) => string | undefined;

const isOf = (type: SpecType, payload: unknown): boolean => {
  const result = specTypeSchemas[type]['~standard'].validate(payload);
  if (result instanceof Promise) return true;
  // The SDK fills in a list that the protocol requires.
  return result.issues === undefined && (type !== 'CallToolResult' || 'content' in (payload as object));
};

const checkOf =
  (types: readonly SpecType[]): PayloadCheck =>
  payload =>
    types.length === 0 || types.some(type => isOf(type, payload)) ? undefined : `it is no ${types[0]}`;

/** One event hooks both lists of resources, so that whoever answers it cannot know which one was asked for. */
const RESOURCE_LISTS = ['resources/list', 'resources/templates/list'];

const CHECKS = new Map(
  Object.entries({ ...SERVED, ...ASKED, ...TOLD }).map(([method, { request, response }]) => {
    const answers = RESOURCE_LISTS.includes(method)
      ? RESOURCE_LISTS.flatMap(list => SERVED[list].response)
      : response;
    return [method, { request: checkOf(request), response: checkOf(response), answer: checkOf(answers) }];
  }),
);

/** Checks an answer of an interceptor. */
export const answerCheck = (method: string): PayloadCheck | undefined => CHECKS.get(method)?.answer;

/** Checks a payload of a method. */
export const payloadCheck = (method: string, phase: Phase): PayloadCheck | undefined =>
  CHECKS.get(method)?.[phase];

export function problemOfInvoked(
  event: string,
  phase: Phase,
  payload: unknown,
  isPartial: boolean,
): string | undefined {
  const checks = CHECKS.get(event);
  if (!checks) return undefined;
  if (!isRecord(payload)) return 'it is not an object';
  if (isPartial) return undefined;
  if (phase === 'response') return isInputRequiredResult(payload) ? undefined : checks.answer(payload);
  return payload['method'] === event ? 'it is the request: send its params' : checks.request(payload);
}
