import type { Result } from '@modelcontextprotocol/server';
import type { Answer, Stage } from './answer.js';
import type { AskClient, Era, McpCall, ReplyChannel } from './mcp-call.js';

type Notify = ReplyChannel['notify'];

/**
 * What a capability adds to a server. It exists before the server, and does not change. `pipeline.ts` holds the order in
 * which the stages run.
 */
export interface ServerExtension {
  /** The identifier in `capabilities.extensions`. Without it, clients do not learn of the extension. */
  readonly id?: string;
  /** The settings in the capabilities. Default: an empty object. */
  settings?(): Record<string, unknown>;
  /** What it offers, for the log of the start: `3 interceptors`. */
  readonly offered?: string;
  /** Methods that the extension answers, in both eras. */
  readonly methods?: Readonly<Record<string, Answer>>;
  /** Its stage around a method; undefined if it has nothing to do for the method. */
  stage?(method: string, era: Era): Stage | undefined;
  /** Whether its stages compare header parameters with arguments, so that the server does not. */
  readonly checksHeaders?: boolean;
  /**
   * Decides on one resource of `subscriptions/listen`.
   * @throws McpException if the subscription is refused
   */
  admitSubscription?(uri: string, call: McpCall): Promise<void>;
  /** Sends a request to a client outside of its calls. */
  ask?(call: McpCall, send: AskClient, ...asked: Parameters<AskClient>): Promise<Result>;
  /** Sends notifications to a client outside of its calls. */
  notifier?(callOf: () => McpCall, send: Notify): Notify;
  /**
   * Registers a listener for notifications to all lasting connections.
   * @returns a function that removes the listener
   */
  onNotification?(listener: (method: string) => void): () => void;
}
