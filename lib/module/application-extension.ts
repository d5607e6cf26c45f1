import { MissingRequiredClientCapabilityError, type Result } from '@modelcontextprotocol/server';
import { compileExtensionMethod, type ExtensionMethodEntry } from '../catalog/extension-method.js';
import type { ExtensionMethodMetadata, McpExtensionOptions } from '../decorators/extension.decorators.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { DeclaredMethod } from '../execution/explore-methods.js';
import type { HandlerExecutor } from '../execution/handler-executor.js';
import { describeTarget } from '../execution/handler-target.js';
import { McpContext } from '../execution/mcp-context.js';
import type { Stage } from '../protocol/answer.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { toFailure } from '../protocol/errors.js';
import type { OwnMethod, ServerExtension } from '../protocol/server-extension.js';
import { traceIdOf } from '../protocol/trace-id.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { isRecord } from '../util/is-record.js';

/** The parts of `ServerExtension` that a class may have itself. */
const OWN = [
  'attach',
  'stages',
  'startLines',
  'permissions',
  'admission',
  'admitSubscription',
  'onNotification',
] as const satisfies readonly (keyof ServerExtension)[];

/** Whether a class does more than answer methods. */
export const hasOwnParts = (instance: object): boolean => OWN.some(name => name in instance);

/** @throws McpBootstrapError that names class and method */
export function compileMethods(
  executor: HandlerExecutor,
  methods: readonly DeclaredMethod<ExtensionMethodMetadata>[],
): Promise<ExtensionMethodEntry[]> {
  return Promise.all(
    methods.map(({ metadata, target }) =>
      compileExtensionMethod(executor, metadata, target).catch((error: unknown) => {
        if (error instanceof McpBootstrapError) throw error;
        throw new McpBootstrapError(describeTarget(target), (error as Error).message);
      }),
    ),
  );
}

/** Creates the extension that a provider declares with `@McpExtension`. */
export function applicationExtension(
  instance: Partial<ServerExtension>,
  { id, settings = {} }: McpExtensionOptions,
  entries: readonly ExtensionMethodEntry[],
): ServerExtension {
  let server: McpServerInstance;
  const own = OWN.flatMap(name => {
    const part: unknown = instance[name];
    if (part === undefined) return [];
    return [[name, typeof part === 'function' ? (part.bind(instance) as unknown) : part]];
  });
  const answer = async (entry: ExtensionMethodEntry, call: McpCall, params: Params): Promise<Result> => {
    if (await entry.run.hider?.({ data: {}, context: new McpContext(call, server.changes) })) {
      throw new McpException(McpErrorCode.MethodNotFound, 'Method not found');
    }
    const { _meta: _, ...data } = params;
    try {
      return await server.runner.run(entry, call, { data }, value => resultOf(value, entry));
    } catch (thrown) {
      throw toFailure(thrown, entry.where, traceIdOf(call, server.rounds.traffic)).error;
    }
  };
  return {
    ...(Object.fromEntries(own) as Partial<ServerExtension>),
    ...(id !== undefined && { id, settings: () => settings }),
    stages: (method, era) => {
      const stages = instance.stages?.(method, era);
      const isRequired = entries.some(({ key, requireClient }) => requireClient && key === method);
      if (!isRequired) return stages;
      const admit: Stage = next => {
        const admitted = stages?.admit?.(next) ?? next;
        return async (call, params) => {
          assertDeclares(call, id!);
          return admitted(call, params);
        };
      };
      return { ...stages, admit };
    },
    attach: (attached: McpServerInstance) => {
      server = attached;
      instance.attach?.(attached);
    },
    methods: Object.fromEntries(
      entries.map(entry => {
        const { key, eras, nameHeader, requirement } = entry;
        const method: OwnMethod = {
          answer: (call, params) => answer(entry, call, params),
          eras,
          nameHeader,
          requirement,
        };
        return [key, method];
      }),
    ),
  };
}

/** @throws the error -32021 for a client that has not declared the extension */
function assertDeclares({ clientCapabilities }: McpCall, id: string): void {
  if (clientCapabilities?.extensions && Object.hasOwn(clientCapabilities.extensions, id)) return;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [id]: {} } } });
}

/** @throws Error for a value that is not a result, or breaks its schema */
async function resultOf(value: unknown, { result, where }: ExtensionMethodEntry): Promise<Result> {
  const checked = result ? await result.validate(value) : undefined;
  if (checked && !checked.ok) {
    const [{ path, message }] = checked.issues;
    throw new Error(`${where} returned a result that breaks its schema: ${path} ${message}`);
  }
  if (value === undefined) return {};
  if (!isRecord(value)) throw new Error(`${where} must return an object`);
  return { ...value };
}
