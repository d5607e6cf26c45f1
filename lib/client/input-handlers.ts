import { Injectable, Scope } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { exploreMethods } from '../execution/explore-methods.js';
import { describeTarget, methodOf, type HandlerTarget } from '../execution/handler-target.js';
import { RequestScope } from '../execution/request-scope.js';
import { readInputs, type InputMetadata } from './decorators/on-input.decorators.js';
import type { InputHandler, InputMethod } from './input-requests.js';

/** A method with `@OnElicitation`, `@OnSampling` or `@OnRoots`. */
export interface FoundInputHandler {
  readonly method: InputMethod;
  readonly client: string;
  readonly handler: InputHandler;
  /** `Class.method`, for messages. */
  readonly where: string;
}

/** Finds the methods that answer servers. */
@Injectable()
export class InputHandlers {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly scope: RequestScope,
  ) {}

  /** @throws McpBootstrapError for two handlers of one client and method, or one that cannot be called */
  explore(): FoundInputHandler[] {
    const found: FoundInputHandler[] = [];
    for (const { metadata, target } of exploreMethods(this.modules, readInputs)) {
      const one = this.foundOf(metadata, target);
      const other = found.find(({ client, method }) => client === one.client && method === one.method);
      if (other) {
        throw new McpBootstrapError(
          one.where,
          `the client "${one.client}" has ${other.where} for ${one.method} already; remove one of them`,
        );
      }
      found.push(one);
    }
    return found;
  }

  private foundOf({ method, client }: InputMetadata, target: HandlerTarget): FoundInputHandler {
    const { instance, methodName, wrapper } = target;
    const where = describeTarget(target);
    if (wrapper?.scope === Scope.TRANSIENT) {
      throw new McpBootstrapError(
        where,
        'its class is a transient provider, of which there is no instance to call; use another scope',
      );
    }
    const call = (host: object, args: Parameters<InputHandler>) =>
      methodOf(host, methodName).apply(host, args) as ReturnType<InputHandler>;
    if (!wrapper || wrapper.isDependencyTreeStatic()) {
      return { method, client, where, handler: (...args) => call(instance, args) };
    }
    const isDurable = wrapper.isDependencyTreeDurable();
    const handler: InputHandler = async (...args) =>
      // What a server asks comes with no HTTP request: each question has a scope of its own.
      call(await this.scope.load(wrapper, this.scope.contextIdOf({}, isDurable)), args);
    return { method, client, where, handler };
  }
}
