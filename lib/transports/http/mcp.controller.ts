import { All, Controller, Inject, Req, Res, UseFilters, type Type } from '@nestjs/common';
import { limitKeyOf } from '../../protocol/caller-limit.js';
import type { ResolvedHttpOptions } from '../../server/server-options.js';
import type { BodyGate } from './body-gate.js';
import { JsonRpcExceptionFilter } from './json-rpc-exception.filter.js';
import type { HttpEndpoint } from './http-endpoint.js';
import type { Incoming } from './incoming.js';
import type { PlatformRequest, PlatformResponse } from './platform.js';
import { checkParsed, readBody, type Body } from './read-body.js';

/**
 * The key under which `@ApiExcludeController()` of `@nestjs/swagger` stores whether to exclude a controller: `[true]`.
 */
const SWAGGER_EXCLUDE_METADATA = 'swagger/apiExcludeController';

/** Token of an application's `EndpointSlot`. */
export const ENDPOINT = 'nestjs-mcp:endpoint';

/** The endpoint that a controller serves. It exists only after the options are known. */
export interface EndpointSlot {
  endpoint?: HttpEndpoint;
  gate?: BodyGate;
}

/** Creates a controller class without a route. `mount` adds the route. Every server needs its own class. */
export function createController(): Type {
  class McpController {
    constructor(@Inject(ENDPOINT) private readonly slot: EndpointSlot) {}

    handle(request: PlatformRequest, response: PlatformResponse): void | Promise<void> {
      return this.serve(request, response, false);
    }

    handlePart(request: PlatformRequest, response: PlatformResponse): void | Promise<void> {
      return this.serve(request, response, true);
    }

    private serve(
      request: PlatformRequest,
      response: PlatformResponse,
      isPart: boolean,
    ): void | Promise<void> {
      const { endpoint, gate } = this.slot;
      const body = bodyOf(request, gate);
      if (!(body instanceof Promise)) return endpoint?.serve(accept(request, response, body), isPart);
      return body.then(read => endpoint?.serve(accept(request, response, read), isPart));
    }
  }
  return McpController;
}

/**
 * Turns the controller into a Nest route, so that prefix, versioning, middleware and global guards apply.
 * @param parts the paths of parts of the server, below its path
 */
export function mount(
  controller: Type,
  { path, version }: ResolvedHttpOptions,
  parts: readonly string[] = [],
): void {
  Controller({ path, ...(version !== undefined && { version }) })(controller);
  UseFilters(new JsonRpcExceptionFilter())(controller);
  // Excluded, because OpenAPI cannot describe the endpoint. The application can include it with its own decorator.
  if (!Reflect.hasMetadata(SWAGGER_EXCLUDE_METADATA, controller))
    Reflect.defineMetadata(SWAGGER_EXCLUDE_METADATA, [true], controller);
  const prototype = controller.prototype as object;
  route(prototype, 'handle');
  if (parts.length > 0) route(prototype, 'handlePart', parts);
}

function route(prototype: object, name: string, paths?: readonly string[]): void {
  All(paths && [...paths])(prototype, name, Object.getOwnPropertyDescriptor(prototype, name)!);
  Req()(prototype, name, 0);
  Res()(prototype, name, 1);
}

function accept(request: PlatformRequest, response: PlatformResponse, body: Body | undefined): Incoming {
  const rawRequest = request.raw ?? request;
  const rawResponse = response.raw ?? response;
  if (response.hijack) {
    // The transport writes to Node's response, so headers that plugins (such as CORS) set on Fastify's reply are
    // copied.
    response.hijack();
    for (const [name, value] of Object.entries(response.getHeaders())) rawResponse.setHeader(name, value);
  }
  const authInfo = request.auth;
  const caller = limitKeyOf(authInfo, request, request.ip ?? rawRequest.socket.remoteAddress);
  return { request, response, rawRequest, rawResponse, body, authInfo, caller };
}

/** The body of a POST: what the gate read or, if the gate did not see JSON, what another parser read. */
function bodyOf(request: PlatformRequest, gate: BodyGate | undefined): Body | undefined | Promise<Body> {
  const { raw: rawRequest = request, body } = request;
  if (rawRequest.method !== 'POST') return undefined;
  const read = gate?.bodyOf(rawRequest);
  if (read) return read;
  if (body !== undefined && body !== null) return checkParsed(body);
  return gate ? gate.read(rawRequest) : readBody(rawRequest, 0);
}
