import { randomUUID } from 'node:crypto';
import { isRecord } from '../util/is-record.js';
import type { MessageBus } from './message-bus.js';

/** The version of the messages. A change that older nodes cannot read needs the next number. */
const VERSION = 1;

interface NodeChannelOptions {
  /** The name under which other nodes can send to this node alone. */
  readonly self?: string;
  readonly onMessage: (data: unknown) => void;
  /** Called for the first of several failures in a row. */
  readonly onError: (error: Error) => void;
}

/** A channel between the nodes of a server. It ignores the node's own messages and messages of newer versions. */
export class NodeChannel {
  private readonly node = randomUUID();
  private isFailing = false;
  private readonly leaving: (() => Promise<void>)[] = [];

  constructor(
    private readonly bus: MessageBus,
    private readonly name: string,
    private readonly options: NodeChannelOptions,
  ) {}

  async open(): Promise<void> {
    const { self } = this.options;
    const names = self === undefined ? [this.name] : [this.name, this.nameOf(self)];
    await this.attempt(async () => {
      for (const name of names) {
        this.leaving.push(await this.bus.subscribe(name, message => this.receive(message)));
      }
    });
  }

  /** Sends to all nodes, or to the node of that name. Never rejects. */
  send(data: unknown, to?: string): Promise<void> {
    const message = { v: VERSION, node: this.node, data };
    return this.attempt(() => this.bus.publish(to === undefined ? this.name : this.nameOf(to), message));
  }

  async close(): Promise<void> {
    await this.attempt(async () => {
      await Promise.all(this.leaving.map(leave => leave()));
    });
  }

  private nameOf(node: string): string {
    return `${this.name}:${node}`;
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
