import { Logger } from '@nestjs/common';
import { isInputRequiredResult, type Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { digestOf, InvalidStateError, RequestState } from '../mrtr/state/request-state.js';
import { callerOf } from '../server/caller.js';
import type { Params } from '../protocol/mcp-call.js';
import type { McpCall } from '../protocol/mcp-call.js';
import type { GatewaySettings } from './resolve-options.js';

/** The backend says how long its state is good for; no state outlives this, in seconds (30 days). */
const TTL_SECONDS = 30 * 24 * 3600;
/** The largest state, in bytes: more than a backend's answer holds by default. */
const MAX_STATE = 16 * 1024 * 1024;

/**
 * Seals the `requestState` of a 2026-era backend for the call that it belongs to. The backend knows the gateway only, and
 * cannot tell its callers apart.
 */
export class CallerStates {
  private readonly logger = new Logger('McpGateway');
  private readonly states: RequestState;
  private isWarned = false;

  constructor(private readonly settings: Pick<GatewaySettings, 'name' | 'secrets'>) {
    this.states = new RequestState({
      secrets: settings.secrets,
      ttlSeconds: TTL_SECONDS,
      encrypt: false,
      maxStateBytes: MAX_STATE,
      maxJournalBytes: MAX_STATE,
      singleUse: false,
    });
  }

  /** A backend's result, with a state that is good for the same call alone. */
  async seal(
    result: Result,
    backend: string | undefined,
    params: Params,
    exchange: McpCall,
  ): Promise<Result> {
    if (!isInputRequiredResult(result) || result.requestState === undefined) return result;
    this.warnOnce();
    return {
      ...result,
      requestState: await this.states.seal(result.requestState, this.binding(backend, params, exchange)),
    };
  }

  /**
   * The backend's own state of what a caller sends; undefined without one.
   * @throws McpException (-32602) for a state that is not of this call
   */
  async open(backend: string | undefined, params: Params, exchange: McpCall): Promise<unknown> {
    const sealed = exchange.requestState;
    if (sealed === undefined) return undefined;
    try {
      return await this.states.open(sealed, this.binding(backend, params, exchange));
    } catch (error) {
      if (!(error instanceof InvalidStateError)) throw error;
      this.logger.debug(`A requestState was refused: ${error.message}`);
      throw invalidState();
    }
  }

  /** Whose call it is, of what, and with which arguments. */
  private binding(backend: string | undefined, params: Params, { method, authInfo, http }: McpCall): string {
    const { name, uri, arguments: args } = params;
    return JSON.stringify([
      'gateway',
      this.settings.name,
      backend,
      method,
      callerOf(authInfo, http?.request),
      digestOf({ name, uri, args }),
    ]);
  }

  private warnOnce(): void {
    const { name, secrets } = this.settings;
    if (secrets.length > 0 || this.isWarned) return;
    this.isWarned = true;
    this.logger.warn(
      `The gateway "${name}" has no "mrtr.secret": calls with several rounds survive neither a restart nor a second node`,
    );
  }
}

/** What a client is told of a state that is not of its call. */
export const invalidState = (): McpException =>
  new McpException(McpErrorCode.InvalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  });
