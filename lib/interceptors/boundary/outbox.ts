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

/** How much may wait for the chain, in characters of JSON, before further notifications are dropped. */
const MAX_LENGTH = 1024 * 1024;

/** Lets progress and log messages pass the chain one after the other, and sends them in the order in which they came. */
export class Outbox {
  private length = 0;
  private last?: Promise<void>;
  private deadline?: number;

  /** @param timeoutMs what the chain may take for all that wait once the work is done */
  constructor(
    private readonly pass: PassNotification,
    private readonly timeoutMs: number,
  ) {}

  async send(method: string, params: Params, notify: Notify): Promise<void> {
    if (!isNotificationEvent(method)) return notify(method, params);
    if (this.length > MAX_LENGTH) return;
    // The handler may change what it has given; the chain decides on what is sent.
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

/** Does something whose notifications pass an outbox, and have been sent when it ends. */
export async function telling<T>(
  call: McpCall,
  outbox: Outbox,
  work: (call: McpCall) => Promise<T>,
): Promise<T> {
  const { reply } = call;
  const notify: Notify = (method, params) =>
    outbox.send(method, params, (name, passed) => reply.notify(name, passed));
  try {
    return await work({ ...call, reply: channelOver(reply, { notify }) });
  } finally {
    await outbox.settled();
  }
}
