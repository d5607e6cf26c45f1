import { isDeepStrictEqual } from 'node:util';
import type { Answer, Sent } from './send.js';
import { argumentsAt, bodyOf, errorOf, isRecord, mirrors, withoutText } from './reading.js';

/** A way in which this module answers otherwise than the SDK, and means to. */
export interface Difference {
  readonly what: string;
  readonly why: string;
  /** Whether the two answers differ in that, and in nothing else. */
  applies(request: Sent, reference: Answer, ours: Answer): boolean;
}

/** Whether an answer is an error with that status, code and text. */
const isError = (answer: Answer, status: number, code: number, text: RegExp): boolean => {
  const error = errorOf(answer);
  return answer.status === status && error?.code === code && text.test(error.message);
};

/** Whether two errors differ in their text alone, where ours is this. */
const differInText = (reference: Answer, ours: Answer, text: RegExp): boolean =>
  text.test(errorOf(ours)?.message ?? '') && isDeepStrictEqual(withoutText(reference), withoutText(ours));

const mismatchOf = (answer: Answer) => errorOf(answer)?.data?.mismatch;

/** The one value of a header, as Node trims it. */
const headerOf = ({ headers }: Sent, name = '') => headers[name.toLowerCase()];

const isLocal = (origin: unknown) => /^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/.test(String(origin));

const isUnopened = ({ headers }: Sent) => (headers['mcp-session-id'] ?? '') === '';

/** The order of the answers in a batch is free. */
const sorted = (messages: readonly unknown[]) =>
  [...(messages as { id?: unknown }[])].sort((a, b) =>
    JSON.stringify(a.id) < JSON.stringify(b.id) ? -1 : 1,
  );

/** Whether an answer in JSON holds what the other one streams, and nothing else was to be told. */
const isSameInJson = ({ status, headers, messages }: Answer, ours: Answer): boolean => {
  const { 'cache-control': _cache, ...others } = headers;
  const body = Array.isArray(ours.body) ? ours.body : [ours.body];
  return (
    messages !== undefined &&
    status === ours.status &&
    isDeepStrictEqual({ ...others, 'content-type': 'application/json' }, ours.headers) &&
    isDeepStrictEqual(sorted(messages), sorted(body))
  );
};

const NO_SESSION = /^Bad Request: Mcp-Session-Id header is required$/;

/** Every deliberate difference. Each of them is met by at least one request of the corpus. */
export const DIFFERENCES: readonly Difference[] = [
  {
    what: 'a header parameter that does not repeat its argument exactly is refused',
    why: 'the SDK passes over a header without an argument, an argument that is no scalar, two headers, Base64 that is not canonical, and integers that are not exact',
    applies(request, reference, ours) {
      const { header, body } = mismatchOf(ours) ?? {};
      return (
        reference.status === 200 &&
        isError(ours, 400, -32020, /^Header mismatch: the Mcp-Param-/) &&
        !mirrors(headerOf(request, header), argumentsAt(request, body))
      );
    },
  },
  {
    what: 'the text and the data of a refused header parameter',
    why: 'it names the header and the argument, and does not repeat what the client sent',
    applies: (_request, reference, ours) =>
      isError(reference, 400, -32020, /^Bad Request: the request headers and body disagree/) &&
      isError(ours, 400, -32020, /^Header mismatch: the Mcp-(Param-|Name )/) &&
      mismatchOf(reference)?.header === mismatchOf(ours)?.header,
  },
  {
    what: 'a header parameter that begins with a byte order mark is read as it is',
    why: 'the SDK drops the mark, and so refuses a header that repeats its argument',
    applies: (request, reference, ours) =>
      isError(reference, 400, -32020, /^Bad Request: the request headers and body disagree/) &&
      ours.status === 200 &&
      Object.entries(request.headers).some(
        ([name, value]) => name.startsWith('mcp-param-') && /^=\?base64\?77u\//.test(String(value)),
      ),
  },
  {
    what: 'an Mcp-Name that is Base64 but not canonical is refused',
    why: 'whoever routed the request may have read another name',
    applies(request, reference, ours) {
      const { params } = bodyOf(request) as { params: Record<string, unknown> };
      return (
        (reference.status === 200 || reference.status === 404) &&
        isError(
          ours,
          400,
          -32020,
          /^Header mismatch: the Mcp-Name header is (malformed|there more than once)$/,
        ) &&
        !mirrors(headerOf(request, 'mcp-name'), params['name'] ?? params['uri'])
      );
    },
  },
  {
    what: '`inputResponses` that is not an object is refused',
    why: 'the SDK takes it for an empty one, so a call would start again and nobody would learn why',
    applies(request, reference, ours) {
      const { params } = bodyOf(request) as { params?: { inputResponses?: unknown } };
      return (
        (reference.status === 200 || [-32021, -32601].includes(errorOf(reference)?.code ?? 0)) &&
        isError(ours, 200, -32602, /^inputResponses must be an object$/) &&
        params?.inputResponses !== undefined &&
        !isRecord(params.inputResponses)
      );
    },
  },
  {
    what: '`subscriptions/listen` is refused for a resource that does not exist, or that a guard hides',
    why: 'who may not read a resource need not know when it changes; the SDK asks nobody',
    applies: (request, reference, ours) =>
      (bodyOf(request) as { method?: unknown }).method === 'subscriptions/listen' &&
      reference.messages !== undefined &&
      isError(ours, 200, -32602, /^(Resource not found: |Malformed resource URI: )/),
  },
  {
    what: 'a handler of a session ends the connection of its call',
    why: 'the client comes back for the answer; the SDK’s transport, without stored events, cannot let it',
    applies(request, reference, ours) {
      const { params } = bodyOf(request) as { params?: { name?: unknown } };
      return (
        params?.name === 'test_reconnection' &&
        reference.status === 200 &&
        ours.status === 200 &&
        isDeepStrictEqual(ours.messages, [])
      );
    },
  },
  {
    what: 'a call of a session that ends is answered with an error',
    why: 'its client waits for an answer; the SDK ends the stream without one',
    applies(_request, reference, ours) {
      const last = ours.messages?.at(-1);
      return (
        errorOf({ ...ours, body: last })?.message === 'The session has ended' &&
        isDeepStrictEqual(reference, { ...ours, messages: ours.messages?.slice(0, -1) })
      );
    },
  },
  {
    what: 'a session has several event streams',
    why: 'the specification allows them, and each message goes to one; the SDK has one stream',
    applies: ({ method }, reference, ours) =>
      method === 'GET' &&
      isError(reference, 409, -32000, /^Conflict: Only one SSE stream is allowed per session$/) &&
      ours.status === 200 &&
      ours.messages !== undefined,
  },
  {
    what: 'a request from a foreign Origin is refused',
    why: 'the SDK leaves the check to whoever mounts its handler',
    applies: ({ headers }, _reference, ours) =>
      headers['origin'] !== undefined &&
      !isLocal(headers['origin']) &&
      isError(ours, 403, -32000, /^Forbidden: requests from this Origin are not accepted$/),
  },
  {
    what: 'HTTP 405 names the methods of sessions, and has a text of its own',
    why: 'it is answered before the request is read, whatever the `legacy` option says',
    applies: ({ method }, reference, ours) =>
      !['GET', 'POST', 'DELETE'].includes(method) &&
      isError(reference, 405, -32000, /^Method not allowed\.$/) &&
      isError(ours, 405, -32000, /^Method Not Allowed$/) &&
      ours.headers['allow'] === 'DELETE,GET,POST',
  },
  {
    what: 'the text of a parse error of the 2025 era',
    why: 'both eras have one text',
    applies: (_request, reference, ours) =>
      errorOf(reference)?.message === 'Parse error: Invalid JSON' &&
      differInText(reference, ours, /^Parse error: the request body is not valid JSON$/),
  },
  {
    what: 'a request without a session is told so before anything else is looked at',
    why: 'there is no transport before `initialize`; the SDK has one that complains of the Accept header, the size of a batch or the missing `initialize` first',
    applies: (request, reference, ours) =>
      isUnopened(request) &&
      isError(ours, 400, -32000, NO_SESSION) &&
      (differInText(reference, ours, NO_SESSION) ||
        isError(reference, 406, -32000, /^Not Acceptable: /) ||
        isError(reference, 400, -32600, /^Invalid Request: (Batch must|Only one initialization)/)),
  },
  {
    what: 'an `initialize` in a batch opens no session',
    why: 'the 2025 revisions do not allow it in a batch',
    applies: (request, reference, ours) =>
      isUnopened(request) &&
      Array.isArray(bodyOf(request)) &&
      reference.headers['mcp-session-id'] === true &&
      isError(ours, 400, -32000, NO_SESSION),
  },
  {
    what: 'a `requestState` of a 2025-era call means nothing, whatever it is',
    why: 'these revisions do not know the name; the SDK refuses one that is not a text',
    applies(request, reference, ours) {
      const { params } = bodyOf(request) as { params?: { requestState?: unknown } };
      const [answer] = (reference.messages ?? []) as Answer['body'][];
      return (
        params?.requestState !== undefined &&
        typeof params.requestState !== 'string' &&
        errorOf({ ...reference, body: answer })?.data?.reason === 'invalid_request_state' &&
        ours.status === 200 &&
        errorOf(ours) === undefined
      );
    },
  },
  {
    what: 'the text of the error for a call without params',
    why: 'a call without params is one with empty params, which lack a name',
    applies(request, reference, ours) {
      const [answer] = (reference.messages ?? [reference.body]) as Answer['body'][];
      const isSaid = (one: Answer) =>
        errorOf(one)?.code === -32602 && /^Invalid tools\/call request/.test(errorOf(one)?.message ?? '');
      const body = bodyOf(request);
      return isRecord(body) && !('params' in body) && isSaid(ours) && isSaid({ ...reference, body: answer });
    },
  },
  {
    what: 'a session answers in JSON, unless something is sent before the answer',
    why: 'a client of these revisions takes both, and JSON is cheaper; the SDK has one setting for all answers',
    applies: (_request, reference, ours) => isSameInJson(reference, ours),
  },
  {
    what: 'a 2025-era request is refused for what it is sent as before its Accept header is looked at',
    why: 'the body is read, or refused, in front of both eras',
    applies: (_request, reference, ours) =>
      isError(reference, 406, -32000, /^Not Acceptable: /) &&
      (isError(ours, 400, -32700, /^Parse error: /) ||
        isError(ours, 415, -32000, /^Unsupported Media Type: /)),
  },
  {
    what: 'a request whose id is in use in its session is refused',
    why: 'the SDK sends both answers to one of the two, and leaves the other without an end',
    applies: (_request, reference, ours) =>
      reference.messages !== undefined && isError(ours, 400, -32600, /^Invalid Request: the id is in use$/),
  },
  {
    what: 'Fastify answers by itself what it has no parser for',
    why: 'it does so before a route is called; it refuses only what the SDK refuses as well',
    applies: (_request, reference, ours) =>
      reference.status >= 400 &&
      (isDeepStrictEqual(ours.body, { statusCode: 415, message: 'Unsupported Media Type' }) ||
        isDeepStrictEqual(ours.body, { statusCode: 400, message: FASTIFY_EMPTY })),
  },
];

const FASTIFY_EMPTY = "Body cannot be empty when content-type is set to 'application/json'";
