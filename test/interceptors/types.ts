// Nothing here is run: `tsc --noEmit`, a part of `npm test`, is what checks it. An expected error that is none is one.
import type {
  CallToolResult,
  ListResourcesResult,
  ListToolsResult,
  ReadResourceResult,
} from '@modelcontextprotocol/server';
import type { CallToolParams, GetPromptParams, InterceptorInvocation, ResourceParams } from 'nestjs-mcp';
import type { ListParams, ResourceListing } from 'nestjs-mcp/interceptors';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Check<T extends true> = T;

type ToolRequest = InterceptorInvocation<'tools/call', 'request'>;
type ToolResponse = InterceptorInvocation<'tools/call', 'response'>;
type Resources = InterceptorInvocation<'resources/list', 'response'>;
type ToolList = InterceptorInvocation<'tools/list', 'response'>;

/** The event and the phase say what the payload is. */
export type Payloads = [
  Check<Same<ToolRequest['payload'], CallToolParams>>,
  Check<Same<ToolResponse['payload'], CallToolResult>>,
  Check<Same<InterceptorInvocation<'tools/call'>['payload'], CallToolParams | CallToolResult>>,
  Check<Same<InterceptorInvocation<'tools/list', 'request'>['payload'], ListParams>>,
  Check<Same<ToolList['payload'], ListToolsResult>>,
  Check<Same<InterceptorInvocation<'prompts/get', 'request'>['payload'], GetPromptParams>>,
  Check<Same<InterceptorInvocation<'resources/read', 'response'>['payload'], ReadResourceResult>>,
  Check<Same<InterceptorInvocation<'resources/subscribe', 'request'>['payload'], ResourceParams>>,
  Check<Same<Resources['payload'], ResourceListing>>,
  // @ts-expect-error a page of templates is one, too
  Check<Same<Resources['payload'], ListResourcesResult>>,
  // @ts-expect-error a request's payload is no result
  Check<Same<ToolRequest['payload'], CallToolResult>>,
];

/** A response comes with what was asked for. */
export type Rest = [
  Check<Same<ToolResponse['request'], CallToolParams | undefined>>,
  Check<Same<ToolResponse['event'], 'tools/call'>>,
  Check<Same<ToolResponse['phase'], 'response'>>,
];

/** Nothing is known of a payload that nobody told of. */
export type Unknowns = [
  Check<Same<InterceptorInvocation['payload'], unknown>>,
  Check<Same<InterceptorInvocation['request'], unknown>>,
  Check<Same<InterceptorInvocation['event'], string>>,
  Check<Same<InterceptorInvocation<'my/event', 'request'>['payload'], unknown>>,
  Check<Same<InterceptorInvocation<'my/event', 'response'>['request'], unknown>>,
  Check<Same<InterceptorInvocation<{ text: string }>['payload'], { text: string }>>,
  Check<Same<InterceptorInvocation<{ text: string }>['event'], string>>,
  // @ts-expect-error there is no such phase
  InterceptorInvocation<'tools/call', 'both'>,
];

/** What does not compile. */
export const MISUSES = [
  // @ts-expect-error a request has no content
  ({ payload }: ToolRequest) => payload.content,
  // @ts-expect-error an argument may be anything
  ({ payload }: ToolRequest): string | undefined => payload.arguments?.['text'],
  // @ts-expect-error there may be no arguments
  ({ payload }: ToolRequest) => payload.arguments['text'],
  // @ts-expect-error a payload is read-only
  ({ payload }: ToolRequest) => (payload.name = 'other'),
  // @ts-expect-error and so are its arguments
  ({ payload }: ToolRequest) => (payload.arguments!['text'] = 'other'),
  // @ts-expect-error what a result has beyond the protocol is unknown
  ({ payload }: ToolResponse): string => payload.name,
  // @ts-expect-error there may be no request
  ({ request }: ToolResponse) => request.name,
  // @ts-expect-error the phase is the response's
  ({ phase }: ToolResponse) => phase === 'request',
  // @ts-expect-error a tool in a list has a name, and no uri
  ({ payload }: ToolList) => payload.tools[0].uri,
  // @ts-expect-error there may be templates instead of resources
  ({ payload }: Resources) => payload.resources.filter(({ uri }) => uri !== 'a'),
  // @ts-expect-error nothing is known of an event of one's own
  ({ payload }: InterceptorInvocation<'my/event'>) => payload.text,
];

/** What does. */
export const USES = [
  ({ payload }: Resources) =>
    payload.resources
      ? { ...payload, resources: payload.resources.filter(({ uri }) => uri !== 'a') }
      : {
          ...payload,
          resourceTemplates: payload.resourceTemplates.filter(({ uriTemplate }) => uriTemplate !== 'a'),
        },
];
