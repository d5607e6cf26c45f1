import type { HandlerRound } from '../elicitation/questions/asking.js';
import type { ExecutionContext, Type } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { CallLifecycle } from '../protocol/mcp-call.js';
import type { McpContext } from './mcp-context.js';
import { shieldResponse } from './response-shield.js';

/** The value of `ExecutionContext.getType()` while a handler of this module runs. */
export const MCP_CONTEXT_TYPE = 'mcp';

/** The data of one call for guards, pipes, interceptors and filters. */
export interface HandlerCall {
  /** The arguments or variables that the client sent. */
  readonly data: unknown;
  readonly context: McpContext;
  readonly round?: HandlerRound;
  readonly lifecycle?: CallLifecycle;
  /** The variables of a resource template's URI. */
  readonly variables?: Readonly<Record<string, string | string[]>>;
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
  return new McpExecutionContextHost(call, handlerClass, handler);
}

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
