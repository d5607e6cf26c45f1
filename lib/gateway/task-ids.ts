import { InvalidStateError, type RequestState } from '../elicitation/state/request-state.js';
import { callerOf } from '../protocol/caller.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { signedStates } from './caller-states.js';
import type { GatewaySettings } from './resolve-options.js';

/** Lifetime of an id, in seconds: ten years. The backend limits its own tasks. */
const TTL_SECONDS = 10 * 365 * 24 * 3600;
/** The longest id, in bytes: it is sent in a header, too. */
const MAX_ID = 8192;

export interface BackendTask {
  /** The prefix of the backend. */
  readonly backend?: string;
  /** The backend's own id. */
  readonly id: string;
  /** The name of the tool, as clients see it. */
  readonly tool: string;
}

/**
 * The ids of tasks that clients get: a task of a backend, sealed for its caller, because a backend may know only the
 * gateway and not its callers. Every node with the same secrets opens them.
 */
export class TaskIds {
  private readonly states: RequestState;

  constructor(private readonly settings: Pick<GatewaySettings, 'name' | 'secrets'>) {
    this.states = signedStates(settings, TTL_SECONDS, MAX_ID);
  }

  /** @throws Error for ids and names of a backend that are too long */
  seal(task: BackendTask, call: McpCall): Promise<string> {
    return this.states.seal(task, this.binding(call));
  }

  /** @returns undefined for an id that is not one, and for one of another caller */
  async open(taskId: unknown, call: McpCall): Promise<BackendTask | undefined> {
    try {
      return (await this.states.open(taskId, this.binding(call))) as BackendTask;
    } catch (error) {
      if (error instanceof InvalidStateError) return undefined;
      throw error;
    }
  }

  private binding({ authInfo, http }: McpCall): string {
    return JSON.stringify(['task', this.settings.name, callerOf(authInfo, http?.request)]);
  }
}
