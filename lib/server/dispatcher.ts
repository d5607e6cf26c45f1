import { ResourceNotFoundError, type CompleteResult, type Result } from '@modelcontextprotocol/server';
import { NotFoundException } from '@nestjs/common';
import type { Catalog, Completer, Reader } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { GuardDenied } from '../exceptions/guard-denied.js';
import { McpContext } from '../execution/mcp-context.js';
import type { HandlerCall } from '../execution/mcp-execution-context.js';
import { isRoundEnd } from '../elicitation/requests/input-required.exception.js';
import type { Rounds } from '../elicitation/rounds.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { itemOf, perList, type DispatchedMethod, type ListMethod } from '../protocol/methods.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import { toCompletion } from '../protocol/completion-result.js';
import { isNotFound, toFailure, unexpected } from '../protocol/errors.js';
import { traceIdOf } from '../protocol/trace-id.js';
import {
  argumentsOf,
  asObject,
  requireString,
  requireUri,
  shorten,
  withoutOwnProto,
} from '../protocol/params.js';
import type { Answer } from '../protocol/answer.js';
import { toPromptResult } from '../protocol/prompt-result.js';
import { toResourceResult } from '../protocol/resource-result.js';
import { unknownPrompt, unknownTool } from '../protocol/unknown.js';
import type { HandlerRunner } from './handler-runner.js';
import type { Visibility } from './visibility.js';
import { InvalidOutputError, toolError, toToolResult } from '../protocol/tool-result.js';

/** The current handlers, and what a caller sees of them. */
interface CatalogSource {
  readonly catalog: Catalog;
  readonly visibility: Visibility;
}

/** Answers methods from the catalogue. It does not depend on HTTP or the SDK's server. */
export class Dispatcher {
  constructor(
    private readonly source: CatalogSource,
    private readonly changes: ChangeNotifier,
    private readonly rounds: Rounds,
    private readonly runner: HandlerRunner,
  ) {}

  /** @throws McpException, or the SDK's `ProtocolError`: the JSON-RPC error to answer with */
  readonly answers: Readonly<Record<DispatchedMethod, Answer>> = {
    ...perList<Answer>(method => (call, params) => this.list(method, call, params)),
    'tools/call': (call, params) => this.callTool(call, params),
    'prompts/get': (call, params) => this.getPrompt(call, params),
    'resources/read': (call, params) => this.readResource(call, params),
    'resources/subscribe': (call, params) => this.subscribe(call, params),
    'resources/unsubscribe': async (call, params) => this.unsubscribe(call, params),
    'completion/complete': (call, params) => this.complete(call, params),
  };

  private async list(method: ListMethod, call: McpCall, { cursor }: Params): Promise<Result> {
    const page = (await this.source.visibility.pages(method, call)).page(cursor as string | undefined);
    if (!page) throw new McpException(McpErrorCode.InvalidParams, 'Unknown cursor');
    return page;
  }

  private async callTool(call: McpCall, params: Params): Promise<Result> {
    const name = requireString(params, 'name');
    const known = this.source.catalog.tools.get(name);
    // `await` costs time even for a value that is not a promise.
    const entry = known?.run.hidingGuard || call.http?.view ? await this.shown(known, call) : known;
    if (!entry) throw unknownTool(name);
    const data = argumentsOf(params);
    try {
      return await this.runner.run(entry, call, { data }, value => toToolResult(value, entry.output));
    } catch (thrown) {
      const { traffic } = this.rounds;
      if (thrown instanceof InvalidOutputError) {
        return toolError(unexpected(thrown, entry.where, traceIdOf(call, traffic)).message);
      }
      const { error, asResult } = toFailure(thrown, entry.where, traceIdOf(call, traffic));
      if (asResult) return toolError(error.message);
      throw error;
    }
  }

  private async getPrompt(call: McpCall, params: Params): Promise<Result> {
    const name = requireString(params, 'name');
    const entry = await this.shown(this.source.catalog.prompts.get(name), call);
    if (!entry) throw unknownPrompt(name);
    const { description } = entry.definition;
    const data = argumentsOf(params);
    return this.orFail(entry, call, () =>
      this.runner.run(entry, call, { data }, value => toPromptResult(value, description)),
    );
  }

  private async readResource(call: McpCall, params: Params): Promise<Result> {
    const uri = requireUri(params);
    const { entry, data, variables } = await this.findResource(uri, call);
    const { mimeType } = entry.definition;
    const cache = call.era === 'modern' ? entry.cache : undefined;
    const read = (value: unknown) => {
      if (value === undefined && variables) throw new NotFoundException();
      return toResourceResult(value, { uri, mimeType, cache, reply: call.reply });
    };
    try {
      return await this.orFail(entry, call, () => this.runner.run(entry, call, { data, variables }, read));
    } catch (error) {
      throw isNotFound(error) ? new ResourceNotFoundError(uri) : error;
    }
  }

  private async findResource(uri: string, call: McpCall): Promise<Reader & { readonly data: unknown }> {
    for (const reader of this.source.catalog.readersOf(uri)) {
      if (await this.shown(reader.entry, call)) return { ...reader, data: reader.variables ?? uri };
    }
    throw new ResourceNotFoundError(uri);
  }

  private async shown<E extends Entry>(entry: E | undefined, call: McpCall): Promise<E | undefined> {
    return this.source.visibility.shown(entry, call);
  }

  /**
   * Runs the guards of a resource for a subscription: a caller that may not read a resource must not learn when it
   * changes.
   * @throws McpException, or the SDK's error for a resource that does not exist
   */
  async admitSubscription(uri: string, call: McpCall): Promise<void> {
    const { entry, data, variables } = await this.findResource(requireUri({ uri }), call);
    try {
      await this.admit(entry, { data, variables, context: new McpContext(call, this.changes) });
    } catch (error) {
      throw isNotFound(error) ? new ResourceNotFoundError(uri) : error;
    }
  }

  private async subscribe(call: McpCall, params: Params): Promise<Result> {
    const uri = requireUri(params);
    await this.admitSubscription(uri, call);
    if (!call.subscriptions) throw new McpException(McpErrorCode.MethodNotFound, 'Method not found');
    await call.subscriptions.add(uri);
    return {};
  }

  private async unsubscribe({ subscriptions }: McpCall, params: Params): Promise<Result> {
    await subscriptions?.delete(requireUri(params));
    return {};
  }

  private async complete(call: McpCall, params: Params): Promise<CompleteResult> {
    const ref = asObject(params['ref'], 'ref');
    const argument = asObject(params['argument'], 'argument');
    const { arguments: others = {} } = asObject(params['context'] ?? {}, 'context');
    const value = requireString(argument, 'value');
    const { owner, completer } = await this.completerFor(ref, requireString(argument, 'name'), call);
    if (completer === undefined) return toCompletion([]);
    const context = new McpContext(call, this.changes);
    // Possible values belong to the prompt or template, so its guards protect them.
    await this.admit(owner, { data: {}, context });
    if (!('run' in completer)) {
      const typed = value.toLowerCase();
      return toCompletion(completer.filter(option => option.toLowerCase().startsWith(typed)));
    }
    const data = withoutOwnProto({ value, arguments: others });
    return this.orFail(completer, call, async () => toCompletion(await completer.run({ data, context })));
  }

  private async completerFor(
    ref: Params,
    argument: string,
    call: McpCall,
  ): Promise<{ owner: Entry; completer: Completer | undefined }> {
    const { type } = ref;
    if (type !== 'ref/prompt' && type !== 'ref/resource') {
      throw new McpException(McpErrorCode.InvalidParams, 'ref.type must be "ref/prompt" or "ref/resource"');
    }
    const item = itemOf('completion/complete', { ref });
    const id = requireString(ref, item.field);
    const catalog = this.source.catalog;
    const owner = await this.shown(catalog.entriesOf(item)[0], call);
    if (!owner) {
      if (type === 'ref/prompt') throw unknownPrompt(id);
      throw new McpException(McpErrorCode.InvalidParams, `Unknown resource template: ${shorten(id)}`);
    }
    const completer = catalog.completer(type === 'ref/prompt' ? 'prompt' : 'resource template', id, argument);
    return { owner, completer: await this.visible(completer, call) };
  }

  /** Enumerations are visible with their prompt or template; a completion handler has its own decorators. */
  private async visible(completer: Completer | undefined, call: McpCall): Promise<Completer | undefined> {
    return completer && 'run' in completer ? this.shown(completer, call) : completer;
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

  /** Turns every failure into a JSON-RPC error. */
  private async orFail<T>({ where }: Entry, call: McpCall, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      throw toFailure(thrown, where, traceIdOf(call, this.rounds.traffic)).error;
    }
  }
}
