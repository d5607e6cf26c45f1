import { createHash } from 'node:crypto';
import { Injectable, type Type } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
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
import type { CompiledSchema, JsonSchema, SchemaIo, SchemaLike, SchemaResult } from '../schema/types.js';
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
import { routeOf, type RouteDeclaration } from './routes/route-declaration.js';
import { BoundMiddleware } from '../execution/route/bound-middleware.js';
import type { RouteBinding } from '../execution/mcp-execution-context.js';
import { inputOf, parsedParams, uriParamsOf, type HandlerInput } from './handler-input.js';
import { defined } from '../util/defined.js';
import { checkUri } from '../protocol/check-uri.js';

export interface HandlerDeclaration {
  readonly metadata: HandlerMetadata;
  readonly target: HandlerTarget;
  /** Whether a resource is read as the route that its method is. Always so for a tool on a route. */
  readonly isRoute?: boolean;
}

/** The names that the specification recommends. */
const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;

/** The options of `@Tool` that only routes have. */
const ROUTE_OPTIONS = [
  'params',
  'headers',
  'request',
  'middleware',
  'stdio',
] as const satisfies readonly (keyof ToolOptions)[];

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
  ...ROUTE_OPTIONS,
] as const satisfies readonly (keyof ToolOptions)[];

type Positional = Pipeline['positional'];

export const withContext: Positional = (data, { context }) => [data, context];
const uriAndContext: Positional = (data, { context, variables }) => [variables ? data : undefined, context];
const textAndArguments: Positional = (data, { context }) => {
  const { value, arguments: args } = data as { value: string; arguments: unknown };
  return [value, args, context];
};

/** Names the method in the mistakes of its declaration. @throws McpBootstrapError */
export async function located<T>(target: HandlerTarget, compile: () => Promise<T>): Promise<T> {
  try {
    return await compile();
  } catch (error) {
    if (error instanceof McpBootstrapError) throw error;
    throw new McpBootstrapError(describeTarget(target), (error as Error).message);
  }
}

/** Compiles declarations into catalogue entries, and reports every mistake in a declaration. */
@Injectable()
export class HandlerCompiler {
  constructor(
    private readonly executor: HandlerExecutor,
    private readonly config: ApplicationConfig,
    private readonly modules: ModulesContainer,
    private readonly middleware: BoundMiddleware,
  ) {}

  /** @throws McpBootstrapError that names class and method */
  compile({ metadata, target, isRoute }: HandlerDeclaration): Promise<Entry> {
    return located(target, async () => {
      const route = metadata.kind === 'tool' || isRoute ? routeOf(target) : undefined;
      const params = readParams(target, route !== undefined);
      await checkAsks(params, metadata.kind);
      if (metadata.kind !== 'tool' && params.some(({ kind }) => kind === 'header')) {
        throw new Error(
          '@HeaderParam() works only in tools, because only tools have header parameters; remove it',
        );
      }
      switch (metadata.kind) {
        case 'tool':
          return await this.tool(metadata.options, target, route);
        case 'prompt':
          return await this.prompt(metadata.options, target);
        case 'resource':
          return await this.resource(metadata.options, target, route);
        case 'resource template':
          return await this.resourceTemplate(metadata.options, target, route);
        case 'completion':
          return this.completion(metadata.options, target);
      }
    });
  }

  private async tool(
    given: ToolOptions,
    target: HandlerTarget,
    declared: RouteDeclaration | undefined,
  ): Promise<ToolEntry> {
    const key = given.name ?? target.methodName;
    if (!TOOL_NAME.test(key)) {
      throw new Error(
        `"${key}" is not a tool name: use 1 to 128 letters, digits, "_", "-", "." or "/" (the "name" option)`,
      );
    }
    const route = declared && (await this.route(target, declared, given));
    if (!route) assertNoRouteOptions(given);
    const { options = given, params = readParams(target), binding } = route ?? {};
    const input =
      route?.input ??
      (await declaredIn(options, 'inputSchema', 'input')) ??
      (await inputOf(target, params, 'tool'));
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
        binding ? params : parsedParams(params, options.inputSchema),
        binding,
      ),
      ...(output && { output: output.schema }),
    };
  }

  private async route(target: HandlerTarget, declared: RouteDeclaration, given?: ToolOptions) {
    const { routeTool } = await import('./routes/route-tool.js');
    const { config, middleware, modules } = this;
    return routeTool(target, declared, given, { config, middleware, applicationId: modules.applicationId });
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

  private async resource(
    options: ResourceOptions,
    target: HandlerTarget,
    declared: RouteDeclaration | undefined,
  ): Promise<ResourceEntry> {
    const { uri, mimeType, annotations, size, cache } = options;
    const problem = checkUri(uri);
    if (problem !== undefined) throw new Error(`"${uri}" is not a resource URI: ${problem}`);
    const route = declared && (await this.route(target, declared));
    const run = this.runner(target, data => data, uriAndContext, route?.params, route?.binding);
    const definition = {
      ...described(options.name ?? target.methodName, { ...route?.words, ...options }),
      uri,
      ...defined({ mimeType: mimeType ?? route?.mediaType, annotations, size }),
    };
    return { kind: 'resource', key: uri, ...originOf(target), definition, run, cache };
  }

  private async resourceTemplate(
    options: ResourceTemplateOptions,
    target: HandlerTarget,
    declared: RouteDeclaration | undefined,
  ): Promise<ResourceTemplateEntry> {
    const { uriTemplate, mimeType, annotations, cache } = options;
    const { compileUriTemplate } = await import('../protocol/uri-template.js');
    const template = compileUriTemplate(uriTemplate);
    const route = declared && (await this.route(target, declared));
    const input =
      route?.input ??
      (await declaredIn(options, 'uriParamsSchema', 'input')) ??
      (await uriParamsOf(readParams(target)));
    const prepare: Prepare = input
      ? validator(`resource template "${uriTemplate}"`, input.schema)
      : data => data;
    const definition = {
      ...described(options.name ?? target.methodName, { ...route?.words, ...options }),
      uriTemplate,
      ...defined({ mimeType: mimeType ?? route?.mediaType, annotations }),
    };
    return {
      kind: 'resource template',
      key: uriTemplate,
      ...originOf(target),
      definition,
      template,
      run: this.runner(target, prepare, uriAndContext, route?.params, route?.binding),
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
    route?: RouteBinding,
  ): RunHandler {
    return this.executor.compile({ target, params, prepare, positional, route });
  }
}

function assertNoRouteOptions(options: ToolOptions): void {
  const stray = ROUTE_OPTIONS.find(name => name in options);
  if (stray)
    throw new Error(`"${stray}" is an option of routes, and the method is not a route of a controller`);
  if (options.outputSchema === true)
    throw new Error('"outputSchema: true" works only on a route of a controller');
}

export const originOf = (
  target: HandlerTarget,
): Pick<Entry, 'where' | 'version' | 'target' | 'requirement'> => ({
  ...defined({ requirement: requirementOf(target) }),
  where: describeTarget(target),
  target,
  version: createHash('sha256')
    .update(String(declaredMethodOf(target)))
    .digest('base64url')
    .slice(0, 12),
});

/** @throws SchemaError also for an undefined schema: a circular import must not disable the check */
export async function declaredIn<K extends string>(
  options: { readonly [_ in K]?: SchemaLike | true },
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
  const accepted = (result: SchemaResult) => {
    if (!result.ok) throw new InvalidArgumentsException(subject, result.issues);
    return result.value;
  };
  return data => {
    const result = schema.validate(data);
    return result instanceof Promise ? result.then(accepted) : accepted(result);
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
