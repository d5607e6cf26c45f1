import type { CurrentRound } from '../elicitation/replay/current-round.js';
import type { ExecutionContext, Type } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { CallLifecycle } from '../protocol/mcp-call.js';
import type { McpContext } from './mcp-context.js';
import { shieldResponse } from './response-shield.js';

/** The value of `ExecutionContext.getType()` while a handler of this module runs. */
export const MCP_CONTEXT_TYPE = 'mcp';

/** What a handler that is also an HTTP route adds to one of its calls. */
export interface RouteCall {
  /** The request that the route would get. */
  readonly request: object;
  /** Whether middleware, a Nest interceptor or a filter has answered through the response. */
  readonly hasAnswered: boolean;
  executionContext(handlerClass: Type, handler: (...args: unknown[]) => unknown): ExecutionContextHost;
  /**
   * Runs the middleware of the route, once.
   * @throws what the middleware threw or passed to `next()`, or an `HttpException` with what it answered
   */
  runMiddleware(): Promise<void>;
  /** Runs work behind the middleware, which may have entered an `AsyncLocalStorage`. */
  within<T>(work: () => Promise<T>): Promise<T>;
  /** The value of a parameter with a decorator of HTTP routes, as Nest reads it. */
  argument(param: { readonly paramtype?: number; readonly data?: unknown }): unknown;
  /**
   * The result of the route, or what was answered through the response.
   * @throws HttpException for an answer with an error status
   */
  resultOf(value: unknown): Promise<unknown>;
  /** The error for the client: an `HttpException` without a message gets its body as the message, which REST shows. */
  errorOf(error: unknown): unknown;
  /** Ends the response, for middleware that waits for its end. */
  end(): void;
}

/** Opens the calls of a handler that is also an HTTP route. */
export interface RouteBinding {
  /** @throws InvalidArgumentsException for a value that no URL can hold */
  open(call: HandlerCall): RouteCall;
  /** What of the route may need an HTTP request, which calls over stdio do not have. Known when Nest has bound its routes. */
  overStdio(): string | undefined;
}

/** The data of one call for guards, pipes, interceptors and filters. */
export interface HandlerCall {
  /** The arguments or variables that the client sent. */
  readonly data: unknown;
  readonly context: McpContext;
  readonly round?: CurrentRound;
  readonly lifecycle?: CallLifecycle;
  /** The variables of a resource template's URI. */
  readonly variables?: Readonly<Record<string, string | string[]>>;
  /** Set if the handler is also an HTTP route. */
  readonly route?: RouteCall;
}

/**
 * The `ExecutionContext` of an MCP handler, of type `'mcp'`. `switchToHttp()` returns the HTTP request of the message,
 * so guards for REST work; over stdio it is empty. `switchToRpc()` returns the arguments and the `McpContext`.
 */
class McpExecutionContextHost extends ExecutionContextHost {
  private response?: object;

  constructor(
    private readonly call: HandlerCall,
    handlerClass: Type,
    handler: (...args: unknown[]) => unknown,
  ) {
    super([call.context.request, undefined], handlerClass, handler);
    this.setType(MCP_CONTEXT_TYPE);
  }

  override getArgs<T extends unknown[]>(): T {
    return [this.getArgByIndex(0), this.getArgByIndex(1)] as T;
  }

  override getArgByIndex<T>(index: number): T {
    if (index === 1) this.response ??= shieldResponse(this.call.context.response);
    return (index === 1 ? this.response : super.getArgByIndex(index)) as T;
  }

  override switchToRpc(): ReturnType<ExecutionContext['switchToRpc']> {
    return Object.assign(this, {
      getData: <T>() => this.call.data as T,
      getContext: <T>() => this.call.context as T,
    });
  }
}

/** @internal */
export function createExecutionContext(
  call: HandlerCall,
  handlerClass: Type,
  handler: (...args: unknown[]) => unknown,
): ExecutionContextHost {
  return (
    call.route?.executionContext(handlerClass, handler) ??
    new McpExecutionContextHost(call, handlerClass, handler)
  );
}

/** The type of the `ExecutionContext` of a call. */
export const contextTypeOf = ({ route }: HandlerCall): string => (route ? 'http' : MCP_CONTEXT_TYPE);

/**
 * Reads an `ExecutionContext` of type `'mcp'` in a guard, an interceptor or a parameter decorator.
 * @example
 * ```ts
 * canActivate(context: ExecutionContext) {
 *   if (context.getType<string>() !== 'mcp') return true;
 *   return McpExecutionContext.create(context).getContext().method === 'tools/call';
 * }
 * ```
 */
export class McpExecutionContext {
  private constructor(private readonly host: ExecutionContext) {}

  static create(context: ExecutionContext): McpExecutionContext {
    return new McpExecutionContext(context);
  }

  /** The arguments that the client sent. In a guard, they are not validated yet. */
  getArguments<T = unknown>(): T {
    return this.host.switchToRpc().getData<T>();
  }

  /** The `McpContext` of the call. */
  getContext(): McpContext {
    return this.host.switchToRpc().getContext<McpContext>();
  }
}
