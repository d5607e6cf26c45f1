import { StreamableFile } from '@nestjs/common';
import type { ToolOptions } from '../../decorators/handler-options.js';
import type { HandlerParam } from '../../execution/handler-params.js';
import { declaredMethodOf, type HandlerTarget } from '../../execution/handler-target.js';

/** Nest's numbers of the decorators of route parameters. */
export const PARAM = { request: 0, body: 3, query: 4, path: 5, headers: 6, ip: 11 } as const;

/** The decorators that a tool cannot serve, by Nest's number, with the reason. */
const DECORATORS: Readonly<Record<number, string>> = {
  1: '@Res() answers by itself, so that the tool would have no result: return the result',
  2: '@Next() passes the request on, which a tool cannot: remove it',
  7: '@Session() is the session of a browser, which a client does not have: use McpContext.sessionId',
  8: '@UploadedFile() is a file of a form, which a client cannot send: write a tool with the content as an argument',
  9: '@UploadedFiles() are files of a form, which a client cannot send: write a tool with the content as an argument',
  10: '@HostParam() is read from the host of the route, which a tool does not have: remove it',
  12: '@RawBody() are the bytes of the request, which a tool does not have: use @Body()',
  14: '@Cookies() are those of a browser, which a client does not have: use a guard that sets request.user',
  15: '@SignedCookies() are those of a browser, which a client does not have: use a guard that sets request.user',
};

/** Nest's metadata of routes that answer in a way of their own. */
const WAYS: Readonly<Record<string, string>> = {
  __sse__:
    '@Sse() sends a stream without an end: write a tool that returns an Observable, whose values become progress',
  __redirect__: '@Redirect() answers with another URL: write a tool that returns the result',
  __renderTemplate__: '@Render() answers with a page: write a tool that returns its data',
};

/** @throws Error for a route that no tool can serve, with the reason and the remedy */
export function assertServable(
  target: HandlerTarget,
  params: readonly HandlerParam[],
  { request, headers = [] }: ToolOptions,
): void {
  const method = declaredMethodOf(target);
  for (const [key, reason] of Object.entries(WAYS)) {
    if (Reflect.getMetadata(key, method) !== undefined) throw new Error(reason);
  }
  if (params.some(({ kind }) => kind === 'args')) {
    throw new Error(
      '@Args() is the body if HTTP calls the route: use @Body(), @Query() and @Param(), or remove the decorator of the route',
    );
  }
  for (const { paramtype, data } of params) {
    const reason = reasonOf(paramtype, data, request === true, headers);
    if (reason !== undefined) throw new Error(reason);
  }
  const returned: unknown = Reflect.getMetadata(
    'design:returntype',
    target.handlerClass.prototype as object,
    target.methodName,
  );
  if (returned === StreamableFile && mediaTypeOf(target) === undefined) {
    throw new Error(
      'it returns a StreamableFile without a media type, which clients could not read: add @Header("Content-Type", …) to the route',
    );
  }
}

/** The media type of `@Header('Content-Type', …)`. */
export function mediaTypeOf(target: HandlerTarget): string | undefined {
  const headers = (Reflect.getMetadata('__headers__', declaredMethodOf(target)) ?? []) as {
    readonly name: string;
    readonly value: unknown;
  }[];
  const found = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value;
  return typeof found === 'string' ? found : undefined;
}

function reasonOf(
  paramtype: number | undefined,
  data: unknown,
  hasRequest: boolean,
  headers: readonly string[],
): string | undefined {
  switch (paramtype) {
    case undefined:
    case PARAM.body:
    case PARAM.query:
    case PARAM.path:
    case PARAM.ip:
      return undefined;
    case PARAM.request:
      return hasRequest
        ? undefined
        : '@Req() passes the request of the MCP endpoint: use @Param(), @Query() and @Body(), or allow it with @Tool({ request: true })';
    case PARAM.headers:
      return headerReason(data, headers);
    default:
      return DECORATORS[paramtype] ?? `the decorator with the number ${paramtype} is unknown: remove it`;
  }
}

function headerReason(name: unknown, allowed: readonly string[]): string | undefined {
  if (typeof name !== 'string')
    return '@Headers() passes all headers of the MCP endpoint: name one, as in @Headers("x-tenant")';
  if (allowed.some(one => one.toLowerCase() === name.toLowerCase())) return undefined;
  return `@Headers("${name}") reads a header of the MCP endpoint, which clients do not send for a tool: use @HeaderParam(), or name it in @Tool({ headers: ["${name}"] })`;
}
