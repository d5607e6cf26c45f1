import {
  ResourceNotFoundError,
  type CallToolResult,
  type CompleteResult,
  type GetPromptResult,
  type InputRequiredResult,
  type ReadResourceResult,
  type Result,
} from '@modelcontextprotocol/server';
import { NotFoundException } from '@nestjs/common';
import type { Catalog, Completer } from '../catalog/catalog.js';
import type { Entry, ResourceEntry, ResourceTemplateEntry } from '../catalog/entries.js';
import type { Page, Pages } from '../catalog/pages.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { GuardDenied } from '../execution/guard-denied.js';
import type { HandlerCall } from '../execution/mcp-execution-context.js';
import { isRoundEnd } from '../mrtr/input-required.exception.js';
import type { Rounds } from '../mrtr/rounds.js';
import { headerArgument } from '../headers/header-value.js';
import type { ChangeNotifier } from './changes.js';
import { toCompletion } from './completion-result.js';
import { isNotFound, toFailure, unexpected } from './errors.js';
import type { Exchange } from './exchange.js';
import { McpContext, type ContextOptions } from './mcp-context.js';
import { argumentsOf, asObject, requireString, requireUri, shorten } from './params.js';
import { toPromptResult } from './prompt-result.js';
import { toResourceResult } from './resource-result.js';
import { unknownPrompt, unknownTool } from './unknown.js';
import { InvalidOutputError, toolError, toToolResult } from './tool-result.js';

export type Params = Readonly<Record<string, unknown>>;

/** The methods that a server answers from its catalogue. */
export const DISPATCHED = [
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
] as const;

export type DispatchedMethod = (typeof DISPATCHED)[number];

/**
 * Answers a method from the catalogue. It knows neither HTTP nor the SDK's server, so a transport, a gateway or a
 * test can stand in front of it.
 */
export class Dispatcher {
  constructor(
    private readonly catalog: () => Catalog,
    private readonly changes: ChangeNotifier,
    private readonly rounds: Rounds,
  ) {}

  private readonly methods: Record<
    DispatchedMethod,
    (params: Params, exchange: Exchange) => Result | Promise<Result>
  > = {
    'tools/list': params => list('tools', this.catalog().toolPages, params),
    'tools/call': (params, exchange) => this.callTool(params, exchange),
    'prompts/list': params => list('prompts', this.catalog().promptPages, params),
    'prompts/get': (params, exchange) => this.getPrompt(params, exchange),
    'resources/list': params => list('resources', this.catalog().resourcePages, params),
    'resources/templates/list': params =>
      list('resourceTemplates', this.catalog().resourceTemplatePages, params),
    'resources/read': (params, exchange) => this.readResource(params, exchange),
    'resources/subscribe': (params, exchange) => this.subscribe(params, exchange),
    'resources/unsubscribe': (params, exchange) => this.unsubscribe(params, exchange),
    'completion/complete': (params, exchange) => this.complete(params, exchange),
  };

  /** @throws McpException, or the SDK's `ProtocolError`: the JSON-RPC error to answer with */
  async dispatch(method: DispatchedMethod, params: Params, exchange: Exchange): Promise<Result> {
    return this.methods[method](params, exchange);
  }

  private async callTool(params: Params, exchange: Exchange): Promise<CallToolResult> {
    const name = requireString(params, 'name');
    const entry = this.catalog().tools.get(name);
    if (!entry) throw unknownTool(name);
    const data = argumentsOf(params);
    const headerValue = (header: string) => headerArgument(entry.headerParams, header, data);
    try {
      return (await this.runRound(entry, exchange, { data, headerValue }, value =>
        toToolResult(value, entry.output),
      )) as CallToolResult;
    } catch (thrown) {
      if (thrown instanceof InvalidOutputError) return toolError(unexpected(thrown, entry.where).message);
      const { error, asResult } = toFailure(thrown, entry.where);
      if (asResult) return toolError(error.message);
      throw error;
    }
  }

  private async getPrompt(params: Params, exchange: Exchange): Promise<GetPromptResult> {
    const name = requireString(params, 'name');
    const entry = this.catalog().prompts.get(name);
    if (!entry) throw unknownPrompt(name);
    const data = argumentsOf(params);
    return (await this.ask(entry, exchange, { data }, value =>
      toPromptResult(value, entry.definition.description),
    )) as GetPromptResult;
  }

  private async readResource(params: Params, exchange: Exchange): Promise<ReadResourceResult> {
    const uri = requireUri(params);
    const { entry, data, variables } = this.findResource(uri);
    const { mimeType } = entry.definition;
    const cache = exchange.era === 'modern' ? entry.cache : undefined;
    try {
      return (await this.ask(entry, exchange, { data, variables }, value => {
        if (value === undefined && variables) throw new NotFoundException();
        return toResourceResult(value, { uri, mimeType, cache, signal: exchange.signal });
      })) as ReadResourceResult;
    } catch (error) {
      throw isNotFound(error) ? new ResourceNotFoundError(uri) : error;
    }
  }

  private findResource(uri: string): {
    entry: ResourceEntry | ResourceTemplateEntry;
    data: unknown;
    variables?: Record<string, string | string[]>;
  } {
    const entry = this.catalog().resources.get(uri);
    if (entry) return { entry, data: uri };
    const match = this.catalog().matchTemplate(uri);
    if (!match) throw new ResourceNotFoundError(uri);
    return { ...match, data: match.variables };
  }

  /**
   * Lets the guards of a resource decide on a subscription: who may not read it need not know when it changes.
   * @throws McpException, or the SDK's error for a resource that does not exist
   */
  async admitSubscription(uri: string, exchange: Exchange): Promise<void> {
    const { entry, data, variables } = this.findResource(requireUri({ uri }));
    try {
      await this.admit(entry, { ...this.call(data, exchange), variables });
    } catch (error) {
      throw isNotFound(error) ? new ResourceNotFoundError(uri) : error;
    }
  }

  private async subscribe(params: Params, exchange: Exchange): Promise<Result> {
    const uri = requireUri(params);
    await this.admitSubscription(uri, exchange);
    if (!exchange.subscriptions) throw new McpException(McpErrorCode.MethodNotFound, 'Method not found');
    exchange.subscriptions.add(uri);
    return {};
  }

  private unsubscribe(params: Params, { subscriptions }: Exchange): Result {
    subscriptions?.delete(requireUri(params));
    return {};
  }

  private async complete(params: Params, exchange: Exchange): Promise<CompleteResult> {
    const ref = asObject(params['ref'], 'ref');
    const argument = asObject(params['argument'], 'argument');
    const context = asObject(params['context'] ?? {}, 'context');
    const value = requireString(argument, 'value');
    const { owner, completer } = this.completerFor(ref, requireString(argument, 'name'));
    if (completer === undefined) return toCompletion([]);
    // What may be chosen is part of the prompt or template, and so behind its guards.
    await this.admit(owner, this.call({}, exchange));
    if (!('run' in completer)) {
      const typed = value.toLowerCase();
      return toCompletion(completer.filter(option => option.toLowerCase().startsWith(typed)));
    }
    const data = { value, arguments: context['arguments'] ?? {} };
    return this.run(completer, this.call(data, exchange), toCompletion);
  }

  private completerFor(ref: Params, argument: string): { owner: Entry; completer: Completer | undefined } {
    const catalog = this.catalog();
    if (ref['type'] === 'ref/prompt') {
      const name = requireString(ref, 'name');
      const owner = catalog.prompts.get(name);
      if (!owner) throw unknownPrompt(name);
      return { owner, completer: catalog.completer('prompt', name, argument) };
    }
    if (ref['type'] === 'ref/resource') {
      const uri = requireString(ref, 'uri');
      const owner = catalog.resourceTemplates.get(uri) ?? catalog.resources.get(uri);
      if (!owner) {
        throw new McpException(McpErrorCode.InvalidParams, `Unknown resource template: ${shorten(uri)}`);
      }
      return { owner, completer: catalog.completer('resource template', uri, argument) };
    }
    throw new McpException(McpErrorCode.InvalidParams, 'ref.type must be "ref/prompt" or "ref/resource"');
  }

  private async admit(entry: Entry, call: HandlerCall): Promise<void> {
    try {
      await entry.run.admit(call);
    } catch (thrown) {
      if (thrown instanceof GuardDenied && isRoundEnd(thrown.cause)) {
        throw new McpException(
          McpErrorCode.Refused,
          `${call.context.method} is refused: it needs input from the client, which only a call can ask for`,
        );
      }
      throw toFailure(thrown, entry.where).error;
    }
  }

  /** Runs a handler whose failures are all JSON-RPC errors. */
  private async run<T>(entry: Entry, call: HandlerCall, convert: (value: unknown) => T): Promise<T> {
    try {
      return convert(await entry.run(call));
    } catch (thrown) {
      throw toFailure(thrown, entry.where).error;
    }
  }

  /** The same for a handler that may ask the client, and so may need another round. */
  private async ask<T extends Result>(
    entry: Entry,
    exchange: Exchange,
    input: HandlerInput,
    convert: (value: unknown) => T | Promise<T>,
  ): Promise<T | InputRequiredResult> {
    try {
      return await this.runRound(entry, exchange, input, convert);
    } catch (thrown) {
      throw toFailure(thrown, entry.where).error;
    }
  }

  private async runRound<T extends Result>(
    entry: Entry,
    exchange: Exchange,
    { headerValue, ...input }: HandlerInput,
    convert: (value: unknown) => T | Promise<T>,
  ): Promise<T | InputRequiredResult> {
    const result = await this.rounds.run(entry, exchange, (current, own) => {
      const context = new McpContext(own, this.changes, { current, headerValue });
      return entry.run({
        ...input,
        context,
        enter: () => current.enter(),
        watch: handler => this.rounds.watch(own, current, handler),
      });
    });
    return 'required' in result ? result.required : convert(result.value);
  }

  private call(data: unknown, exchange: Exchange): HandlerCall {
    return { data, context: new McpContext(exchange, this.changes) };
  }
}

/** What a handler is given, and can read of it from its context. */
interface HandlerInput extends Pick<HandlerCall, 'data' | 'variables'> {
  readonly headerValue?: ContextOptions['headerValue'];
}

function list<T>(key: string, pages: Pages<T>, { cursor }: Params): Result {
  const page: Page<T> | undefined = pages.page(cursor as string | undefined);
  if (!page) throw new McpException(McpErrorCode.InvalidParams, 'Unknown cursor');
  const { items, ...rest } = page;
  return { [key]: items, ...rest };
}
