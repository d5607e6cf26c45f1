import type { McpCall, ReplyChannel } from '../../protocol/mcp-call.js';
import { frozenCopy } from '../chain/frozen.js';
import { isNotificationEvent } from '../protocol/events.js';
import { channelOver } from './message.js';

type Notify = ReplyChannel['notify'];
type Params = Parameters<Notify>[1];

/** @returns the params to send; undefined if the notification is dropped */
export type PassNotification = (
  method: string,
  params: Params,
  deadline: number | undefined,
) => Params | undefined | Promise<Params | undefined>;

/** Maximum characters of JSON that wait for the chain. Further notifications are dropped. */
const MAX_LENGTH = 1024 * 1024;

/** Passes progress and log messages through the chain one after the other, and sends them in order. */
export class NotificationQueue {
  private length = 0;
  private last?: Promise<void>;
  private deadline?: number;

  /**
   * @param timeoutMs deadline for the chain to finish all waiting messages after the work has ended, in milliseconds
   */
  constructor(
    private readonly pass: PassNotification,
    private readonly timeoutMs: number,
  ) {}

  async send(method: string, params: Params, notify: Notify): Promise<void> {
    if (!isNotificationEvent(method)) return notify(method, params);
    if (this.length > MAX_LENGTH) return;
    // A copy, because the handler may change the object while the chain runs.
    const given = frozenCopy(params);
    const pass = () => this.pass(method, given, this.deadline);
    const passing = this.last ? this.last.then(pass) : pass();
    if (!(passing instanceof Promise)) return passing && notify(method, passing);
    const { length } = JSON.stringify(given);
    this.length += length;
    const sent = passing.then(passed => passed && notify(method, passed));
    const ended: Promise<void> = sent
      .catch(() => undefined)
      .then(() => {
        this.length -= length;
        if (this.last === ended) this.last = undefined;
      });
    this.last = ended;
    return sent;
  }

  async settled(): Promise<void> {
    if (!this.last) return;
    this.deadline = performance.now() + this.timeoutMs;
    await this.last;
    this.deadline = undefined;
  }
}

/** The event and the params with which a status message of a task passes the chain, like the text of progress. */
export const statusEvent = ({ requestId }: McpCall, message: string): [method: string, params: Params] => [
  'notifications/progress',
  { progressToken: requestId, progress: 0, message },
];

export const statusIn = ({ message }: Params): string | undefined =>
  typeof message === 'string' ? message : undefined;

/** Runs work whose notifications, and status messages of its task, pass a queue. All of them are sent before it returns. */
export async function withInterceptedNotifications<T>(
  call: McpCall,
  queue: NotificationQueue,
  work: (call: McpCall) => Promise<T>,
): Promise<T> {
  const { reply } = call;
  const notify: Notify = (method, params) =>
    queue.send(method, params, (name, passed) => reply.notify(name, passed));
  const status = (message: string) =>
    queue.send(...statusEvent(call, message), async (_, passed) => {
      const text = statusIn(passed);
      if (text !== undefined) await reply.status?.(text);
    });
  try {
    return await work({ ...call, reply: channelOver(reply, { notify, status }) });
  } finally {
    await queue.settled();
  }
}
