import type { ExtensionMethodMetadata, ExtensionMethodOptions } from '../decorators/extension.decorators.js';
import { checkAsks } from '../execution/handler-asks.js';
import type { HandlerExecutor, RunHandler } from '../execution/handler-executor.js';
import { readParams } from '../execution/handler-params.js';
import type { HandlerTarget } from '../execution/handler-target.js';
import { resolve } from '../options/check-options.js';
import { FLAG, objectOf, TEXT } from '../options/option-schema.js';
import type { Era } from '../protocol/mcp-call.js';
import { REQUESTS } from '../protocol/methods.js';
import type { Requirement } from '../protocol/permissions.js';
import type { CompiledSchema, JsonSchema } from '../schema/types.js';
import { declaredIn, originOf, validator, withContext } from './handler-compiler.js';
import { inputOf, parsedParams } from './handler-input.js';

export interface ExtensionMethodEntry {
  /** The method of the request. */
  readonly key: string;
  readonly where: string;
  readonly version: string;
  readonly requirement?: Requirement;
  readonly run: RunHandler;
  readonly params: JsonSchema;
  readonly result?: CompiledSchema;
  readonly eras?: readonly Era[];
  readonly nameHeader?: string;
  readonly requireClient: boolean;
}

const ERAS: readonly Era[] = ['modern', 'legacy'];

const OPTIONS = objectOf<ExtensionMethodOptions>({
  params: {},
  result: {},
  eras: {
    problem: (eras: readonly Era[]) =>
      Array.isArray(eras) && eras.length > 0 && eras.every(era => ERAS.includes(era as Era))
        ? undefined
        : '"eras" is a list of "modern" and "legacy"',
  },
  nameHeader: TEXT,
  requireClient: FLAG,
});

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
  const {
    eras,
    nameHeader,
    requireClient = false,
  } = resolve(OPTIONS, options, problem => new Error(problem));
  const params = readParams(target);
  await checkAsks(params, 'tool');
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
    params: input.schema.jsonSchema,
    result: result?.schema,
    eras,
    nameHeader,
    requireClient,
  };
}
