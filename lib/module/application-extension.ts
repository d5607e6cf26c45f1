import type { Result } from '@modelcontextprotocol/server';
import type { ExtensionMethodEntry } from '../catalog/extension-method.js';
import type { McpExtensionOptions } from '../decorators/extension.decorators.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { Stage } from '../protocol/answer.js';
import { assertDeclares } from '../protocol/declared-extension.js';
import { toFailure } from '../protocol/errors.js';
import type { Era, McpCall, Params } from '../protocol/mcp-call.js';
import { argumentsOf } from '../protocol/params.js';
import type { OwnMethod, ServerExtension, Stages } from '../protocol/server-extension.js';
import { checkOutput, toJson } from '../protocol/tool-result.js';
import { traceIdOf } from '../protocol/trace-id.js';
import { UnknownMethodError } from '../protocol/unknown.js';
import { assertSendable } from '../protocol/unsendable.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { isRecord } from '../util/is-record.js';

const PLACES: readonly string[] = ['admit', 'intercept', 'answer', 'check'] satisfies (keyof Stages)[];

/** The extension that a provider declares with `@McpExtension`, for one server. */
export class ApplicationExtension implements ServerExtension {
  readonly id?: string;
  readonly where: string;
  /** Its stages, as the server was built with them. */
  readonly composed: { readonly method: string; readonly era: Era; readonly stages: Stages }[] = [];
  readonly offered?: string;
  readonly methods: Readonly<Record<string, OwnMethod>>;
  readonly entries: ReadonlyMap<string, ExtensionMethodEntry>;
  private server!: McpServerInstance;

  constructor(
    private readonly provider: Pick<ServerExtension, 'stages'>,
    private readonly options: McpExtensionOptions,
    entries: readonly ExtensionMethodEntry[],
  ) {
    this.id = options.id;
    this.where = provider.constructor.name;
    const count = entries.length;
    if (count > 0) this.offered = `${count} extension method${count === 1 ? '' : 's'}`;
    this.entries = new Map(entries.map(entry => [entry.key, entry]));
    this.methods = Object.fromEntries(entries.map(entry => [entry.key, this.ownMethod(entry)]));
  }

  settings(): Record<string, unknown> {
    return { ...this.options.settings };
  }

  attach(server: McpServerInstance): void {
    this.server = server;
  }

  /** @throws McpBootstrapError if the provider returns something else than stages */
  stages(method: string, era: Era): Stages | undefined {
    const stages = this.stagesAround(method, era);
    if (stages) this.composed.push({ method, era, stages });
    return stages;
  }

  private stagesAround(method: string, era: Era): Stages | undefined {
    const stages = this.providedStages(method, era);
    const entry = this.entries.get(method);
    if (!entry?.requireClient && !entry?.run.hidingGuard) return stages;
    const admit: Stage = next => {
      const admitted = stages?.admit?.(next) ?? next;
      return async (call, params) => {
        if (await this.isHidden(entry, call)) throw new UnknownMethodError();
        if (entry.requireClient) assertDeclares(call, this.id!);
        return admitted(call, params);
      };
    };
    return { ...stages, admit };
  }

  private providedStages(method: string, era: Era): Stages | undefined {
    const stages: unknown = this.provider.stages?.(method, era);
    const isRight =
      stages === undefined ||
      (isRecord(stages) &&
        Object.entries(stages).every(
          ([place, stage]) => PLACES.includes(place) && (stage === undefined || typeof stage === 'function'),
        ));
    if (isRight && !(stages instanceof Promise)) return stages;
    throw new McpBootstrapError(
      `${this.where}.stages`,
      `it must return undefined, or an object whose ${PLACES.join(', ')} are functions`,
    );
  }

  private ownMethod(entry: ExtensionMethodEntry): OwnMethod {
    const { where, eras, nameHeader, requirement } = entry;
    return {
      answer: (call, params) => this.answer(entry, call, params),
      ...{ where, eras, nameHeader, requirement },
      ...(entry.run.hidingGuard && {
        isHidden: (call: McpCall | undefined) => !call || this.isHidden(entry, call),
      }),
    };
  }

  private async isHidden(entry: ExtensionMethodEntry, call: McpCall): Promise<boolean> {
    return (
      entry.run.hidingGuard !== undefined &&
      (await this.server.visibility.hidingGuard(entry, call)) !== undefined
    );
  }

  private async answer(entry: ExtensionMethodEntry, call: McpCall, params: Params): Promise<Result> {
    const { runner, rounds } = this.server;
    const { _meta: _, ...own } = params;
    const data = argumentsOf({ arguments: own });
    try {
      return await runner.run(entry, call, { data }, value => resultOf(value, entry));
    } catch (thrown) {
      throw toFailure(thrown, entry.where, traceIdOf(call, rounds.traffic)).error;
    }
  }
}

/** @throws Error for a value that is not a result, or breaks its schema */
async function resultOf(value: unknown, { result, where }: ExtensionMethodEntry): Promise<Result> {
  assertSendable(value);
  const sent: unknown = result ? await checkOutput(value, result) : (toJson(value) ?? {});
  if (!isRecord(sent)) throw new Error(`${where} must return an object`);
  if (Object.hasOwn(sent, 'resultType')) throw new Error(`${where} must not return "resultType"`);
  return sent;
}
