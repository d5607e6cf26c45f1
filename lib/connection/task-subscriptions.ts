import type {
  Client,
  JSONRPCNotification,
  RequestOptions,
  SubscriptionFilter,
} from '@modelcontextprotocol/client';
import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import type { Params } from '../protocol/mcp-call.js';

/** A `subscriptions/listen` stream for tasks. */
export interface TaskSubscription {
  /** The tasks that the server reports. */
  readonly taskIds: readonly string[];
  /** Resolves when the stream has ended. */
  readonly closed: Promise<unknown>;
}

/** The number in the id of the next `listen` of the SDK's client, which has no public accessor. */
interface NextId {
  readonly _nextListenId?: number;
}

interface Stream {
  taskIds: readonly string[];
  readonly onTask: (task: Params) => void;
}

/**
 * The streams of a client that report tasks. The SDK drops the ids of tasks from an acknowledgement, and does not say on
 * which stream a notification came.
 */
export class TaskSubscriptions {
  private readonly streams = new Map<unknown, Stream>();

  constructor(private readonly client: Client) {}

  /** @throws ProtocolError if the server refuses, SdkError if it does not acknowledge in time */
  async open(
    taskIds: readonly string[],
    onTask: Stream['onTask'],
    options: Pick<RequestOptions, 'signal' | 'timeout'>,
  ): Promise<TaskSubscription> {
    const id = `listen:${(this.client as unknown as NextId)._nextListenId}`;
    const stream: Stream = { taskIds: [], onTask };
    this.streams.set(id, stream);
    try {
      const { closed } = await this.client.listen({ taskIds } as SubscriptionFilter, options);
      void closed.then(() => this.streams.delete(id));
      return { taskIds: stream.taskIds, closed };
    } catch (error) {
      this.streams.delete(id);
      throw error;
    }
  }

  /** Reads a notification. @returns whether it is about a task of a stream, so that nobody else needs it */
  take({ method, params = {} }: JSONRPCNotification): boolean {
    const stream = this.streams.get(params._meta?.[SUBSCRIPTION_ID_META_KEY]);
    if (!stream) return false;
    if (method === ACKNOWLEDGED) stream.taskIds = idsIn(params);
    if (method !== TASK) return false;
    stream.onTask(params);
    return true;
  }
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const TASK = 'notifications/tasks';

function idsIn({ notifications }: Params): string[] {
  const { taskIds } = (notifications ?? {}) as Params;
  return Array.isArray(taskIds) ? taskIds.filter(id => typeof id === 'string') : [];
}
