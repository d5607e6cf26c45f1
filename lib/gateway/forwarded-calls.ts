import { isDeepStrictEqual } from 'node:util';
import { ProtocolError, SdkError, SdkErrorCode, type Result } from '@modelcontextprotocol/server';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import { LimitReached } from '../protocol/caller-limit.js';
import type { ToolSchemas } from '../protocol/handlers.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { METHODS } from '../protocol/methods.js';
import type { BackendConnection } from './backend-connection.js';
import { Call } from './call.js';
import type { CallerLists } from './caller-lists.js';
import { askable, paramsFor, takesTasks } from './caller-params.js';
import type { CallerStates } from './caller-states.js';
import type { ConnectionManager } from './connection-manager.js';
import type { SuspendedCalls } from './suspended-calls.js';

interface CallerMemory {
  readonly suspended: SuspendedCalls;
  readonly states: CallerStates;
}

/** What a backend knows for its calls. */
interface CalledBackend {
  readonly lists: CallerLists;
  readonly hasTasks: boolean;
  report(error: Error): void;
}

/** Sends the calls of clients to a backend, as its era needs it. */
export class ForwardedCalls {
  constructor(
    private readonly backend: CalledBackend,
    private readonly base: BackendConnection,
    private readonly connections: ConnectionManager,
    private readonly memory: CallerMemory,
  ) {}

  /** Sends a call to a backend of 2026-07-28. */
  async modern(method: string, params: Params, exchange: McpCall, requestState: unknown): Promise<Result> {
    const { channel, reply } = exchange;
    const { signal } = reply;
    const { level } = this.connections.known(channel) ?? {};
    const mayBeTask = this.backend.hasTasks && takesTasks(exchange);
    const sent = paramsFor('modern', params, exchange, { requestState, level, mayBeTask });
    const send = async (tool?: ToolSchemas) => {
      const result = await this.base.request(method, sent, { call: new Call(exchange), signal, tool });
      const isTask = result['resultType'] === 'task';
      if (isTask && !mayBeTask) {
        throw new SdkError(SdkErrorCode.UnsupportedResultType, 'It answered a call with a task');
      }
      if (isTask || result['requestState'] !== undefined) this.memory.states.warnOnce();
      return result;
    };
    if (method !== 'tools/call') return send();
    const tool = await this.tool(params['name'], exchange);
    try {
      return await send(tool);
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== McpErrorCode.HeaderMismatch) throw error;
      // The backend has checked only the headers: its tool may have changed.
      this.backend.lists.relist(exchange);
      const now = await this.tool(params['name'], exchange);
      if (isDeepStrictEqual(now?.inputSchema, tool?.inputSchema)) throw error;
      return send(now);
    }
  }

  /** The definition of a tool; undefined if it is not listed. A backend that cannot list may still serve calls. */
  private async tool(name: unknown, exchange: McpCall): Promise<ToolSchemas | undefined> {
    try {
      return await this.backend.lists.find('tools/list', exchange, row => row['name'] === name);
    } catch (error) {
      if (exchange.reply.signal.aborted || error instanceof LimitReached) throw error;
      this.backend.report(error as Error);
      return undefined;
    }
  }

  /** Sends a call to a 2025-era backend, on the connection of its caller. */
  async legacy(method: string, params: Params, exchange: McpCall, state: unknown): Promise<Result> {
    const { channel, reply } = exchange;
    const { signal } = reply;
    const { connections } = this;
    const sent = paramsFor('legacy', params, exchange);
    if (channel) {
      return connections.connectionOf(channel).request(method, sent, { call: new Call(exchange), signal });
    }
    const asks =
      METHODS.get(method)?.canAsk === true && Object.keys(askable(exchange.clientCapabilities)).length > 0;
    const run = (call: Call, until: AbortSignal) =>
      connections.pooled(method, sent, exchange, { call, signal: until, asks });
    if (state === undefined && (!asks || exchange.era === 'legacy')) return run(new Call(exchange), signal);
    return this.memory.suspended.run(state, exchange, run);
  }
}
