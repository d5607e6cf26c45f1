import { randomUUID } from 'node:crypto';
import { isRecord } from '../util/is-record.js';
import type { MessageBus } from './message-bus.js';

/** The version of the messages. A change that older nodes cannot read needs the next number. */
const VERSION = 1;

interface Envelope {
  readonly v: number;
  readonly node: string;
  readonly data: unknown;
}

interface NodeChannelOptions {
  readonly onMessage: (data: unknown) => void;
  /** Called for the first of several failures in a row. */
  readonly onError: (error: Error) => void;
}

/** A channel between the nodes of a server. It ignores the node's own messages and messages of newer versions. */
export class NodeChannel {
  private readonly node = randomUUID();
  private isFailing = false;
  private leave?: () => Promise<void>;

  constructor(
    private readonly bus: MessageBus,
    private readonly name: string,
    private readonly options: NodeChannelOptions,
  ) {}

  async open(): Promise<void> {
    await this.attempt(async () => {
      this.leave = await this.bus.subscribe(this.name, message => this.receive(message));
    });
  }

  /** Never rejects. */
  send(data: unknown): Promise<void> {
    const message: Envelope = { v: VERSION, node: this.node, data };
    return this.attempt(() => this.bus.publish(this.name, message));
  }

  async close(): Promise<void> {
    await this.attempt(async () => this.leave?.());
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.options.onError(error as Error);
      this.isFailing = true;
    }
  }

  private receive(message: unknown): void {
    if (!isRecord(message)) return;
    const { v, node, data } = message;
    if (typeof v === 'number' && v <= VERSION && node !== this.node) this.options.onMessage(data);
  }
}
