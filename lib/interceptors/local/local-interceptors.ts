import { isRecord } from '../../util/is-record.js';
import type { ModulesContainer } from '@nestjs/core';
import { INTERCEPTOR_METADATA, type InterceptorMetadata } from '../decorators/interceptor.decorators.js';
import { McpBootstrapError } from '../../exceptions/mcp-bootstrap.error.js';
import { Mistakes } from '../../exceptions/mistakes.js';
import { exploreMethods } from '../../execution/explore-methods.js';
import { describeTarget, type HandlerTarget } from '../../execution/handler-target.js';
import type { RequestScope } from '../../execution/request-scope.js';
import { type ChainEntry, LOCAL_HOST } from '../chain/entry.js';
import { describe } from './check-options.js';
import { configCheck } from './config-check.js';
import { originOf } from '../messages/context.js';
import type { Denial } from '../authoring.js';
import { SyntheticResponse } from '../chain/synthetic-response.js';
import { VALID } from '../protocol/read-result.js';
import { defined } from '../../util/defined.js';
import type { InterceptorType } from '../protocol/types.js';

export interface LocalInterceptor {
  readonly entry: ChainEntry;
  readonly server: string | undefined;
  readonly where: string;
}

/**
 * The interceptors that the application declares.
 * @throws McpBootstrapError for wrong options, or two interceptors with the same name
 */
export async function localInterceptors(
  modules: ModulesContainer,
  scope: RequestScope,
): Promise<readonly LocalInterceptor[]> {
  const found: LocalInterceptor[] = [];
  const mistakes = new Mistakes();
  for (const { metadata, target } of exploreMethods(modules, readInterceptors)) {
    const where = describeTarget(target);
    try {
      const entry = await entryOf(metadata, target, scope);
      const { name } = entry.descriptor;
      const other = found.find(one => one.entry.descriptor.name === name);
      if (other)
        throw new Error(
          `the interceptor "${name}" already exists in ${other.where}; give one of them another "name"`,
        );
      found.push({ entry, server: metadata.options.server, where });
    } catch (error) {
      mistakes.add(new McpBootstrapError(where, (error as Error).message));
    }
  }
  const error = mistakes.error();
  if (error) throw error;
  return found;
}

async function entryOf(
  metadata: InterceptorMetadata,
  target: HandlerTarget,
  scope: RequestScope,
): Promise<ChainEntry> {
  const { type, options } = metadata;
  const { final, when, timeoutMs, configSchema, inputRequired } = options;
  const { sideEffects = type === 'sink' ? 'some' : 'none' } = options;
  const call = scope.caller(target);
  const checkConfig = configSchema && (await configCheck(configSchema));
  return {
    host: LOCAL_HOST,
    descriptor: describe(metadata, target.methodName),
    traits: { final, when, scope: options.scope, timeoutMs, inputRequired, sideEffects },
    ...(checkConfig && { checkConfig }),
    invoke: invocation => call(originOf(invocation.bag), invocation),
    read: (value, name, payload) => normalise(type, value, name, payload),
  };
}

const readInterceptors = (method: object): readonly InterceptorMetadata[] =>
  (Reflect.getMetadata(INTERCEPTOR_METADATA, method) ?? []) as InterceptorMetadata[];

/** Converts a return value to a result of the protocol. The chain refuses other values as malformed. */
export function normalise(type: InterceptorType, value: unknown, name: string, payload: unknown): unknown {
  switch (type) {
    case 'validation':
      return validation(value, name);
    case 'mutation':
      return mutation(value, payload);
    case 'sink':
      return { recorded: true, ...(isRecord(value) && 'recorded' in value && value) };
  }
}

function validation(value: unknown, name: string): unknown {
  if (value === true) return VALID;
  if (value === false) return denial([{ message: `Refused by ${name}`, severity: 'error' }]);
  if (Array.isArray(value)) return value.length === 0 ? VALID : denial(value as Denial[]);
  return isDenial(value) ? denial([value]) : value;
}

function denial(denials: readonly Denial[]): unknown {
  if (!denials.every(isDenial)) return undefined;
  const suggestions = denials.flatMap(({ suggestions = [] }) => suggestions);
  return {
    valid: false,
    messages: denials.map(({ path, message, severity }) => defined({ path, message, severity })),
    ...(suggestions.length > 0 && { suggestions }),
  };
}

function mutation(value: unknown, received: unknown): unknown {
  if (SyntheticResponse.is(value)) return value;
  if (value === undefined || value === received) return { modified: false, payload: received };
  return isResult(value) ? value : { modified: true, payload: value };
}

/** A result with `modified` as its only field lacks its payload; it is not a payload. */
const isResult = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value['modified'] === 'boolean' &&
  (!value['modified'] || 'payload' in value || Object.keys(value).length === 1);

const isDenial = (value: unknown): value is Denial =>
  isRecord(value) &&
  typeof value['message'] === 'string' &&
  typeof value['severity'] === 'string' &&
  !('valid' in value);
