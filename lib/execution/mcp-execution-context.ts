import type { ExecutionContext, Type } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { McpContext } from './mcp-context.js';
import { shieldResponse } from './response-shield.js';

/** What `ExecutionContext.getType()` returns while a handler of this module runs. */
export const MCP_CONTEXT_TYPE = 'mcp';

/** What a round has to know of the handler's own method. */
export interface HandlerRound {
  /** Asked before the method runs, and again if a Nest interceptor retries it: false if it must not. */
  enter(): boolean;
  /** Runs the method, and sees what becomes of it. */
  watch(handler: () => unknown): unknown;
}

/** What one call of a handler carries through its guards, pipes, interceptors and filters. */
export interface HandlerCall {
  /** What the client sent: a tool's or prompt's arguments, a template's variables. */
  readonly data: unknown;
  readonly context: McpContext;
  /** The round that the call is in, if its handler can ask the client. */
  readonly round?: HandlerRound;
  /** The decoded URI variables, for a resource template. */
  readonly variables?: Readonly<Record<string, string | string[]>>;
}

/**
 * The `ExecutionContext` of an MCP handler. `getType()` is `'mcp'`, `getClass()` and `getHandler()` are the
 * provider's class and its method. `switchToHttp()` holds the HTTP request that carried the message, so guards
 * written for REST work; over stdio there is none. `switchToRpc()` holds the arguments and the `McpContext`.
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
  return new McpExecutionContextHost(call, handlerClass, handler);
}

/** Reads an `ExecutionContext` of type `'mcp'`, in a guard, an interceptor or a parameter decorator. */
export class McpExecutionContext {
  private constructor(private readonly host: ExecutionContext) {}

  /** @param context the `ExecutionContext` that Nest handed to the guard, interceptor or decorator */
  static create(context: ExecutionContext): McpExecutionContext {
    return new McpExecutionContext(context);
  }

  /** The arguments, as the client sent them: not validated yet when a guard runs. */
  getArguments<T = unknown>(): T {
    return this.host.switchToRpc().getData<T>();
  }

  /** The `McpContext` of the call. */
  getContext(): McpContext {
    return this.host.switchToRpc().getContext<McpContext>();
  }
}
