import type { ModulesContainer } from '@nestjs/core';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { exploreMethods } from '../execution/explore-methods.js';
import { describeTarget, type HandlerTarget } from '../execution/handler-target.js';
import type { RequestScope } from '../execution/request-scope.js';
import { reasonOf } from '../schema/schema.error.js';
import { readInputs } from './on-input.decorators.js';
import type { InputMethod } from '../protocol/methods.js';
import type { InputHandler } from './input-requests.js';

export interface FoundInputHandler {
  readonly method: InputMethod;
  readonly client: string;
  readonly handler: InputHandler;
  readonly where: string;
}

/** @throws McpBootstrapError for two handlers of one client and method, or a handler that cannot be called */
export function inputHandlers(modules: ModulesContainer, scope: RequestScope): FoundInputHandler[] {
  const found: FoundInputHandler[] = [];
  for (const { metadata, target } of exploreMethods(modules, readInputs)) {
    const { method, client } = metadata;
    const where = describeTarget(target);
    const other = found.find(one => client === one.client && method === one.method);
    if (other) {
      throw new McpBootstrapError(
        where,
        `the client "${client}" has ${other.where} for ${method} already; remove one of them`,
      );
    }
    found.push({ method, client, where, handler: handlerOf(target, where, scope) });
  }
  return found;
}

function handlerOf(target: HandlerTarget, where: string, scope: RequestScope): InputHandler {
  try {
    const call = scope.caller(target);
    // A server's input request comes with no HTTP request, so each one has a separate request scope.
    return (...args) => call({}, ...args) as ReturnType<InputHandler>;
  } catch (error) {
    throw new McpBootstrapError(where, reasonOf(error));
  }
}
