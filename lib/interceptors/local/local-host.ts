import { Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { INTERCEPTOR_METADATA } from '../decorators/interceptor.decorators.js';
import type { InterceptorMetadata } from '../decorators/decorator-options.js';
import { McpBootstrapError } from '../../exceptions/mcp-bootstrap.error.js';
import { exploreMethods } from '../../execution/explore-methods.js';
import { describeTarget, type HandlerTarget } from '../../execution/handler-target.js';
import { RequestScope } from '../../execution/request-scope.js';
import { LOCAL_HOST, type ChainEntry } from '../chain/entry.js';
import { describe } from './check-options.js';
import { configCheck } from './config-check.js';
import { normalise } from './normalise.js';
import { originOf } from '../messages/exchange-bag.js';

export interface LocalInterceptor {
  readonly entry: ChainEntry;
  readonly server: string | undefined;
  readonly where: string;
}

@Injectable()
export class LocalHost {
  private found?: Promise<readonly LocalInterceptor[]>;

  constructor(
    private readonly modules: ModulesContainer,
    private readonly scope: RequestScope,
  ) {}

  /** @throws McpBootstrapError for wrong options, or two interceptors with one name */
  interceptors(): Promise<readonly LocalInterceptor[]> {
    return (this.found ??= this.explore());
  }

  private async explore(): Promise<readonly LocalInterceptor[]> {
    const found: LocalInterceptor[] = [];
    for (const { metadata, target } of exploreMethods(this.modules, readInterceptors)) {
      const where = describeTarget(target);
      try {
        const entry = await this.entryOf(metadata, target);
        const { name } = entry.descriptor;
        const other = found.find(one => one.entry.descriptor.name === name);
        if (other)
          throw new Error(
            `the interceptor "${name}" exists already, in ${other.where}; give one of them another "name"`,
          );
        found.push({ entry, server: metadata.options.server, where });
      } catch (error) {
        throw new McpBootstrapError(where, (error as Error).message);
      }
    }
    return found;
  }

  private async entryOf(metadata: InterceptorMetadata, target: HandlerTarget): Promise<ChainEntry> {
    const { type, options } = metadata;
    const { final, when, scope, timeoutMs, configSchema, inputRequired } = options;
    const { sideEffects = type === 'sink' ? 'some' : 'none' } = options;
    const call = this.scope.caller(target);
    const checkConfig = configSchema && (await configCheck(configSchema));
    return {
      host: LOCAL_HOST,
      descriptor: describe(metadata, target.methodName),
      traits: { final, when, scope, timeoutMs, inputRequired, sideEffects },
      ...(checkConfig && { checkConfig }),
      invoke: invocation => call(originOf(invocation.bag), invocation),
      read: (value, name, payload) => normalise(type, value, name, payload),
    };
  }
}

const readInterceptors = (method: object): readonly InterceptorMetadata[] =>
  (Reflect.getMetadata(INTERCEPTOR_METADATA, method) ?? []) as InterceptorMetadata[];
