import { Logger } from '@nestjs/common';
import { isInputRequiredResult, type Result } from '@modelcontextprotocol/server';
import { invalidState } from '../elicitation/requests/errors.js';
import { bindingOf, InvalidStateError, RequestState } from '../elicitation/state/request-state.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import type { Traffic } from '../protocol/traffic.js';
import type { GatewaySettings } from './resolve-options.js';

/** Lifetime of a state, in seconds: 30 days. The backend limits its own state. */
const TTL_SECONDS = 30 * 24 * 3600;
/** Largest state, in bytes: more than a backend's answer holds by default. */
const MAX_STATE = 16 * 1024 * 1024;

interface Sealed {
  /** The backend's `requestState`. */
  readonly state: unknown;
  /** Place of the round in a trace. */
  readonly mark?: string;
}

/** Signed states with a lifetime in seconds, and a maximum size in bytes. */
export const signedStates = (
  { secrets }: Pick<GatewaySettings, 'secrets'>,
  ttlSeconds: number,
  maxBytes: number,
): RequestState =>
  new RequestState({
    secrets,
    ttlSeconds,
    encrypt: false,
    maxStateBytes: maxBytes,
    maxJournalBytes: maxBytes,
    singleUse: false,
  });

/** Seals each `requestState` for its caller and call, because a backend knows only the gateway and not its callers. */
export class CallerStates {
  private readonly logger: Logger;
  private readonly states: RequestState;
  private isWarned = false;
  /** Links a round to the round before. Undefined if the calls are not observed. */
  traffic?: Pick<Traffic, 'mark' | 'follow'>;

  constructor(private readonly settings: Pick<GatewaySettings, 'name' | 'secrets'>) {
    this.logger = new Logger(`McpGateway(${settings.name})`);
    this.states = signedStates(settings, TTL_SECONDS, MAX_STATE);
  }

  async seal(
    result: Result,
    backend: string | undefined,
    params: Params,
    exchange: McpCall,
  ): Promise<Result> {
    if (!isInputRequiredResult(result) || result.requestState === undefined) return result;
    const sealed: Sealed = { state: result.requestState, mark: this.traffic?.mark() };
    return {
      ...result,
      requestState: await this.states.seal(sealed, this.binding(backend, params, exchange)),
    };
  }

  /** @throws McpException (-32602) for a state of another call */
  async open(backend: string | undefined, params: Params, exchange: McpCall): Promise<unknown> {
    const sealed = exchange.requestState;
    if (sealed === undefined) return undefined;
    try {
      const opened = await this.states.open(sealed, this.binding(backend, params, exchange));
      const { state, mark } = opened as Sealed;
      if (mark !== undefined) this.traffic?.follow(mark);
      return state;
    } catch (error) {
      if (!(error instanceof InvalidStateError)) throw error;
      this.logger.debug(`A requestState was refused: ${error.message}`);
      throw invalidState();
    }
  }

  /** Warns if the states that are made here cannot be opened by another process. */
  warnOnce(): void {
    const { name, secrets } = this.settings;
    if (secrets.length > 0 || this.isWarned) return;
    this.isWarned = true;
    this.logger.warn(
      `The gateway "${name}" has no "mrtr.secret": calls with several rounds, and tasks, survive neither a restart nor a second node`,
    );
  }

  private binding(backend: string | undefined, params: Params, exchange: McpCall): string {
    return bindingOf(exchange, params, 'gateway', this.settings.name, backend);
  }
}
