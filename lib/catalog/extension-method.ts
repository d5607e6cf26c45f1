import type { ExtensionMethodMetadata } from '../decorators/extension.decorators.js';
import { checkAsks } from '../execution/handler-asks.js';
import type { HandlerExecutor, RunHandler } from '../execution/handler-executor.js';
import { readParams } from '../execution/handler-params.js';
import type { HandlerTarget } from '../execution/handler-target.js';
import type { Era } from '../protocol/mcp-call.js';
import { REQUESTS } from '../protocol/methods.js';
import type { Requirement } from '../protocol/permissions.js';
import type { CompiledSchema } from '../schema/types.js';
import { declaredIn, originOf, validator, withContext } from './handler-compiler.js';
import { inputOf, parsedParams } from './handler-input.js';

/** A method of an extension, compiled. */
export interface ExtensionMethodEntry {
  /** The method of the request. */
  readonly key: string;
  readonly where: string;
  readonly version: string;
  readonly requirement?: Requirement;
  readonly run: RunHandler;
  readonly result?: CompiledSchema;
  readonly eras?: readonly Era[];
  readonly nameHeader?: string;
  readonly requireClient: boolean;
}

const ERAS: readonly Era[] = ['modern', 'legacy'];

const METHOD = /^[\w.-]+(\/[\w.-]+)+$/;

/** @throws Error for a mistake in the declaration */
export async function compileExtensionMethod(
  executor: HandlerExecutor,
  { method, options }: ExtensionMethodMetadata,
  target: HandlerTarget,
): Promise<ExtensionMethodEntry> {
  if (!METHOD.test(method)) {
    throw new Error(
      `"${method}" is not a name for a method; write it as "acme/search", with a prefix of yours`,
    );
  }
  if (REQUESTS.has(method) || method.startsWith('notifications/')) {
    throw new Error(`"${method}" belongs to the protocol; give the method a prefix of yours`);
  }
  if (options.eras && (options.eras.length === 0 || options.eras.some(era => !ERAS.includes(era)))) {
    throw new Error('"eras" is a list of "modern" and "legacy"');
  }
  const params = readParams(target);
  await checkAsks(params, 'tool');
  const { eras, nameHeader, requireClient = false } = options;
  const input = (await declaredIn(options, 'params', 'input')) ?? (await inputOf(target, params, 'method'));
  const result = await declaredIn(options, 'result', 'output');
  return {
    key: method,
    ...originOf(target),
    run: executor.compile({
      target,
      params: parsedParams(params, options.params),
      prepare: validator(`"${method}"`, input.schema),
      positional: withContext,
    }),
    result: result?.schema,
    eras,
    nameHeader,
    requireClient,
  };
}
