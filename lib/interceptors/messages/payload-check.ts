import {
  inputResponse,
  type InputResponseView,
  isInputRequiredResult,
  specTypeSchemas,
} from '@modelcontextprotocol/server';
import type { InputMethod } from '../../protocol/methods.js';
import { isRecord } from '../../util/is-record.js';
import type { Phase } from '../protocol/types.js';
import { EVENT_OF } from '../protocol/events.js';

type SpecType = keyof typeof specTypeSchemas;
/** The types of a method's params and of its result. A payload must match one of them. */
type Types = Readonly<Record<string, readonly [request: readonly SpecType[], response: readonly SpecType[]]>>;

const SERVED: Types = {
  'tools/list': [['PaginatedRequestParams'], ['ListToolsResult']],
  'tools/call': [['CallToolRequestParams'], ['CallToolResult']],
  'prompts/list': [['PaginatedRequestParams'], ['ListPromptsResult']],
  'prompts/get': [['GetPromptRequestParams'], ['GetPromptResult']],
  'resources/list': [['PaginatedRequestParams'], ['ListResourcesResult']],
  'resources/templates/list': [['PaginatedRequestParams'], ['ListResourceTemplatesResult']],
  'resources/read': [['ReadResourceRequestParams'], ['ReadResourceResult']],
  'resources/subscribe': [['SubscribeRequestParams'], ['EmptyResult']],
  'completion/complete': [['CompleteRequestParams'], ['CompleteResult']],
};

const SENT: Types = {
  'elicitation/create': [['ElicitRequestParams'], ['ElicitResult']],
  'sampling/createMessage': [
    ['CreateMessageRequestParams'],
    ['CreateMessageResult', 'CreateMessageResultWithTools'],
  ],
  'roots/list': [[], ['ListRootsResult']],
  'notifications/progress': [['ProgressNotificationParams'], []],
  'notifications/message': [['LoggingMessageNotificationParams'], []],
};

export const isServed = (event: string): boolean => Object.hasOwn(SERVED, event);

type PayloadCheck = (payload: unknown) => string | undefined;

const isOf = (type: SpecType, payload: unknown): boolean => {
  const result = specTypeSchemas[type]['~standard'].validate(payload);
  if (result instanceof Promise) return true;
  // The SDK adds a list that the protocol requires.
  return result.issues === undefined && (type !== 'CallToolResult' || 'content' in (payload as object));
};

const checkOf =
  (types: readonly SpecType[]): PayloadCheck =>
  payload =>
    types.length === 0 || types.some(type => isOf(type, payload))
      ? undefined
      : `it is not a valid ${types[0]}`;

const CHECKS = new Map(
  Object.entries({ ...SERVED, ...SENT }).map(([method, [request, response]]) => {
    // One event covers both lists of resources, so an interceptor cannot know which list was requested.
    const alike = Object.keys(SERVED).filter(other => EVENT_OF[other] === EVENT_OF[method]);
    const answers = alike.length > 1 ? alike.flatMap(other => SERVED[other][1]) : response;
    return [method, { request: checkOf(request), response: checkOf(response), answer: checkOf(answers) }];
  }),
);

export const answerCheck = (method: string): PayloadCheck | undefined => CHECKS.get(method)?.answer;

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

/** Recognised by the form of the answer, because an answer does not name its request. */
const METHOD_OF: Partial<Record<InputResponseView['kind'], InputMethod>> = {
  elicit: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
};

export const answeredMethod = (
  responses: Readonly<Record<string, unknown>>,
  key: string,
): InputMethod | undefined => METHOD_OF[inputResponse(responses, key).kind];
