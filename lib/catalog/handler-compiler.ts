import { createHash } from 'node:crypto';
import { Injectable, type Type } from '@nestjs/common';
import type {
  CompletionOptions,
  HandlerMetadata,
  HandlerOptions,
  PromptOptions,
  ResourceOptions,
  ResourceTemplateOptions,
  ToolOptions,
} from '../decorators/handler-options.js';
import { InvalidArgumentsException } from '../exceptions/invalid-arguments.exception.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { checkAsks } from '../execution/handler-asks.js';
import { HandlerExecutor, type RunHandler } from '../execution/handler-executor.js';
import { readParams, type HandlerParam } from '../execution/handler-params.js';
import type { Pipeline, Prepare } from '../execution/handler-pipeline.js';
import { declaredMethodOf, describeTarget, type HandlerTarget } from '../execution/handler-target.js';
import { omit } from '../options/option-schema.js';
import { compileSchema } from '../schema/compile-schema.js';
import { readHeaderParams } from '../headers/header-params.js';
import type { HeaderParam } from '../protocol/header-param.js';
import { promptArguments } from '../schema/input-properties.js';
import { isStandardSchema } from '../schema/standard-schema-compiler.js';
import type { CompiledSchema, JsonSchema, SchemaIo, SchemaLike } from '../schema/types.js';
import { isZodDto } from '../schema/zod-dto.js';
import {
  keyOfCompletion,
  type CompletionEntry,
  type Entry,
  type PromptEntry,
  type ResourceEntry,
  type ResourceTemplateEntry,
  type ToolEntry,
} from './entries.js';
import { requirementOf } from './requirement.js';
import { inputOf, parsedParams, uriParamsOf, type HandlerInput } from './handler-input.js';
import { defined } from '../util/defined.js';
import { checkUri } from '../protocol/check-uri.js';

export interface HandlerDeclaration {
  readonly metadata: HandlerMetadata;
  readonly target: HandlerTarget;
}

/** The names that the specification recommends. */
const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;

/** The options of `@Tool` that do not belong to extensions. */
const TOOL_OPTIONS = [
  'name',
  'title',
  'description',
  'icons',
  '_meta',
  'server',
  'annotations',
  'inputSchema',
  'outputSchema',
] as const satisfies readonly (keyof ToolOptions)[];

type Positional = Pipeline['positional'];

export const withContext: Positional = (data, { context }) => [data, context];
const uriAndContext: Positional = (data, { context, variables }) => [variables ? data : undefined, context];
const textAndArguments: Positional = (data, { context }) => {
  const { value, arguments: args } = data as { value: string; arguments: unknown };
  return [value, args, context];
};

/** Compiles declarations into catalogue entries, and reports every mistake in a declaration. */
@Injectable()
export class HandlerCompiler {
  constructor(private readonly executor: HandlerExecutor) {}

  /** @throws McpBootstrapError that names class and method */
  async compile({ metadata, target }: HandlerDeclaration): Promise<Entry> {
    try {
      await checkAsks(readParams(target), metadata.kind);
      if (metadata.kind !== 'tool' && readParams(target).some(({ kind }) => kind === 'header')) {
        throw new Error(
          '@HeaderParam() works only in tools, because only tools have header parameters; remove it',
        );
      }
      switch (metadata.kind) {
        case 'tool':
          return await this.tool(metadata.options, target);
        case 'prompt':
          return await this.prompt(metadata.options, target);
        case 'resource':
          return this.resource(metadata.options, target);
        case 'resource template':
          return await this.resourceTemplate(metadata.options, target);
        case 'completion':
          return this.completion(metadata.options, target);
      }
    } catch (error) {
      if (error instanceof McpBootstrapError) throw error;
      throw new McpBootstrapError(describeTarget(target), (error as Error).message);
    }
  }

  private async tool(options: ToolOptions, target: HandlerTarget): Promise<ToolEntry> {
    const key = options.name ?? target.methodName;
    if (!TOOL_NAME.test(key)) {
      throw new Error(
        `"${key}" is not a tool name: use 1 to 128 letters, digits, "_", "-", "." or "/" (the "name" option)`,
      );
    }
    const params = readParams(target);
    const input =
      (await declaredIn(options, 'inputSchema', 'input')) ?? (await inputOf(target, params, 'tool'));
    const output = await declaredIn(options, 'outputSchema', 'output');
    const inputSchema = input.schema.jsonSchema;
    const headerParams = headersOf(inputSchema, input.source);
    assertDeclared(params, headerParams);
    const definition = {
      ...described(key, options),
      inputSchema: inputSchema as { type: 'object' },
      ...defined({
        outputSchema: output?.schema.jsonSchema as { type: 'object' } | undefined,
        annotations: options.annotations,
      }),
    };
    return {
      kind: 'tool',
      key,
      ...originOf(target),
      definition,
      headerParams,
      extensionOptions: defined(omit(options, ...TOOL_OPTIONS)),
      run: this.runner(
        target,
        validator(`tool "${key}"`, input.schema),
        withContext,
        parsedParams(params, options.inputSchema),
      ),
      ...(output && { output: output.schema }),
    };
  }

  private async prompt(options: PromptOptions, target: HandlerTarget): Promise<PromptEntry> {
    const key = options.name ?? target.methodName;
    const params = readParams(target);
    const declared =
      (await declaredIn(options, 'argsSchema', 'input')) ?? (await inputOf(target, params, 'prompt'));
    const schema = await ofTexts(declared);
    const args = promptArguments(schema.jsonSchema);
    const definition = { ...described(key, options), ...(args.length > 0 && { arguments: args }) };
    return {
      kind: 'prompt',
      key,
      ...originOf(target),
      definition,
      run: this.runner(
        target,
        validator(`prompt "${key}"`, schema),
        withContext,
        parsedParams(params, options.argsSchema),
      ),
      inputJsonSchema: schema.jsonSchema,
    };
  }

  private resource(options: ResourceOptions, target: HandlerTarget): ResourceEntry {
    const { uri, mimeType, annotations, size, cache } = options;
    const problem = checkUri(uri);
    if (problem !== undefined) throw new Error(`"${uri}" is not a resource URI: ${problem}`);
    const run = this.runner(target, data => data, uriAndContext);
    const definition = {
      ...described(options.name ?? target.methodName, options),
      uri,
      ...defined({ mimeType, annotations, size }),
    };
    return { kind: 'resource', key: uri, ...originOf(target), definition, run, cache };
  }

  private async resourceTemplate(
    options: ResourceTemplateOptions,
    target: HandlerTarget,
  ): Promise<ResourceTemplateEntry> {
    const { uriTemplate, mimeType, annotations, cache } = options;
    const { compileUriTemplate } = await import('../protocol/uri-template.js');
    const template = compileUriTemplate(uriTemplate);
    const input =
      (await declaredIn(options, 'uriParamsSchema', 'input')) ?? (await uriParamsOf(readParams(target)));
    const prepare: Prepare = input
      ? validator(`resource template "${uriTemplate}"`, input.schema)
      : data => data;
    const definition = {
      ...described(options.name ?? target.methodName, options),
      uriTemplate,
      ...defined({ mimeType, annotations }),
    };
    return {
      kind: 'resource template',
      key: uriTemplate,
      ...originOf(target),
      definition,
      template,
      run: this.runner(target, prepare, uriAndContext),
      inputJsonSchema: input?.schema.jsonSchema,
      cache,
    };
  }

  private completion(options: CompletionOptions, target: HandlerTarget): CompletionEntry {
    const { prompt, resourceTemplate, argument } = options;
    return {
      kind: 'completion',
      key: keyOfCompletion(options),
      ...originOf(target),
      ref: { prompt, resourceTemplate, argument },
      run: this.runner(target, data => data, textAndArguments),
    };
  }

  private runner(
    target: HandlerTarget,
    prepare: Prepare,
    positional: Positional,
    params: readonly HandlerParam[] = readParams(target),
  ): RunHandler {
    return this.executor.compile({ target, params, prepare, positional });
  }
}

export const originOf = (target: HandlerTarget): Pick<Entry, 'where' | 'version' | 'requirement'> => ({
  ...defined({ requirement: requirementOf(target) }),
  where: describeTarget(target),
  version: createHash('sha256')
    .update(String(declaredMethodOf(target)))
    .digest('base64url')
    .slice(0, 12),
});

/** @throws SchemaError also for an undefined schema: a circular import must not disable the check */
export async function declaredIn<K extends string>(
  options: { readonly [_ in K]?: SchemaLike },
  option: K,
  io: SchemaIo,
): Promise<HandlerInput | undefined> {
  if (!(option in options)) return undefined;
  const source = options[option] as SchemaLike;
  return { source, schema: await compileSchema(source, io) };
}

/**
 * Adapts a schema to a prompt's arguments, which are strings. The server converts them for a DTO; other schemas must
 * convert them.
 */
async function ofTexts({ schema, source }: HandlerInput): Promise<CompiledSchema> {
  const { assertTakesTexts, takingTexts } = await import('../schema/text-arguments.js');
  if (source === undefined) return takingTexts(schema);
  if (isClass(source)) return takingTexts(schema, source);
  await assertTakesTexts(schema);
  return schema;
}

/** Whether class-validator checks it. arktype schemas and the DTOs of nestjs-zod are functions, too. */
const isClass = (source: SchemaLike | undefined): source is Type =>
  typeof source === 'function' && !isStandardSchema(source) && !isZodDto(source);

export function validator(subject: string, schema: CompiledSchema): Prepare {
  return async data => {
    const result = await schema.validate(data);
    if (!result.ok) throw new InvalidArgumentsException(subject, result.issues);
    return result.value;
  };
}

/** @throws Error that names the class, the property and the broken rule */
function headersOf(inputSchema: JsonSchema, source: SchemaLike | undefined): readonly HeaderParam[] {
  const found = readHeaderParams(inputSchema);
  if (found.ok) return found.params;
  throw new Error(isClass(source) ? `${source.name}, ${found.reason}` : found.reason);
}

/** Refuses `@HeaderParam` for an undeclared header, which would always be undefined. */
function assertDeclared(handlerParams: readonly HandlerParam[], params: readonly HeaderParam[]): void {
  const declared = params.map(({ name }) => name);
  const names = handlerParams.filter(({ kind }) => kind === 'header').map(({ data }) => String(data));
  const missing = names.find(name => !declared.some(one => one.toLowerCase() === name.toLowerCase()));
  if (missing === undefined) return;
  throw new Error(
    `@HeaderParam("${missing}") reads a header that its input does not declare: add @McpHeader("${missing}") to a ` +
      `property (declared: ${declared.join(', ') || 'none'})`,
  );
}

const described = (name: string, { title, description, icons, _meta }: HandlerOptions) => ({
  name,
  ...defined({ title, description, icons, _meta }),
});
