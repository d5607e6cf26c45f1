import { STATUS_CODES } from 'node:http';
import { HttpException, type StreamableFile, type Type } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { RouteParamsFactory } from '@nestjs/core/router/route-params-factory.js';
import { GuardDenied } from '../../exceptions/guard-denied.js';
import { isHttpException, messageOf } from '../../protocol/errors.js';
import { isStreamableFile } from '../../protocol/unsendable.js';
import type { HandlerCall, RouteCall } from '../mcp-execution-context.js';
import type { Answer } from './recorded-response.js';
import type { RouteMiddleware, Runner } from './route-middleware.js';
import { routeRequest, type RouteInfo, type RouteValues } from './route-request.js';
import { RouteResponse } from './route-response.js';

/** What all calls of a route share. */
export interface RoutePlan {
  readonly info: RouteInfo;
  readonly parameters: RouteParamsFactory;
  /** Undefined if the route is safe without its middleware. */
  readonly middleware?: RouteMiddleware;
  /** Makes content of a file that the route returns. Undefined for a resource, which may return files. */
  readonly fileContent?: (file: StreamableFile, signal: AbortSignal) => Promise<unknown>;
}

/** One call of a route: the request and the response that middleware, guards, pipes and filters see. */
export class RecordedRouteCall implements RouteCall {
  readonly request: object;
  private readonly response: RouteResponse;
  private passed?: Promise<void>;
  private isRefused = false;
  /** Runs work in the async context in which the last middleware called `next()`. */
  private inside: Runner = work => work();

  constructor(
    private readonly plan: RoutePlan,
    private readonly call: HandlerCall,
    values: RouteValues,
  ) {
    const { request, response } = call.context;
    this.request = routeRequest(request, plan.info, values);
    this.response = new RouteResponse(this.request, response);
    // Express has both on its request. Those of the endpoint would answer it.
    if (!('raw' in this.request)) Object.assign(this.request, { res: this.response, next });
  }

  runMiddleware(): Promise<void> {
    return (this.passed ??= this.pass());
  }

  async within<T>(work: () => Promise<T>): Promise<T> {
    // The pipeline throws its error.
    await this.runMiddleware().catch(() => undefined);
    return this.inside(work);
  }

  executionContext(handlerClass: Type, handler: (...args: unknown[]) => unknown): ExecutionContextHost {
    return new ExecutionContextHost([this.request, this.response, next], handlerClass, handler);
  }

  argument({ paramtype, data }: Parameters<RouteCall['argument']>[0]): unknown {
    const at = { req: this.request, res: this.response, next };
    const value: unknown = this.plan.parameters.exchangeKeyForValue(paramtype!, data as string, at);
    return value;
  }

  get hasAnswered(): boolean {
    return this.response.answer !== undefined;
  }

  async resultOf(value: unknown): Promise<unknown> {
    const { answer } = this.response;
    if (answer && (this.isRefused || answer.status >= ERROR)) throw refusal(answer);
    const isResponse = value === this.response || value === this.response.raw;
    const result = answer ? answer.body : isResponse ? undefined : value;
    const { fileContent } = this.plan;
    return fileContent && isStreamableFile(result) ? fileContent(result, this.call.context.signal) : result;
  }

  errorOf(error: unknown): unknown {
    const isDenied = error instanceof GuardDenied;
    const thrown: unknown = isDenied ? error.cause : error;
    if (!isHttpException(thrown)) return error;
    const body = thrown.getResponse();
    if (typeof body !== 'object') return error;
    const { message, statusCode: _, error: __, ...details } = body as Record<string, unknown>;
    if (message !== undefined && Object.keys(details).length === 0) return error;
    const text =
      message === undefined ? JSON.stringify(body) : `${messageOf(thrown)}: ${JSON.stringify(details)}`;
    const shown = new HttpException(text, thrown.getStatus(), { cause: thrown });
    return isDenied ? new GuardDenied(shown) : shown;
  }

  end(): void {
    this.response.close();
  }

  private async pass(): Promise<void> {
    const { middleware } = this.plan;
    if (!middleware) return;
    const inside = await middleware.run(this.request, this.response, this.call.context.signal);
    if (inside) {
      this.inside = inside;
      return;
    }
    this.isRefused = true;
    throw refusal(this.response.answer!);
  }
}

const ERROR = 400;
const FORBIDDEN = 403;
const next = () => undefined;

/** An answer of middleware is a refusal, even without an error status: the handler does not run. */
function refusal({ status, body }: Answer): HttpException {
  const code = status >= ERROR ? status : FORBIDDEN;
  if (typeof body === 'object' && body !== null && 'message' in body) return new HttpException(body, code);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new HttpException(text || (STATUS_CODES[code] ?? 'Error'), code);
}
