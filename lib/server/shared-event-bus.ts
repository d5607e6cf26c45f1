import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { MessageBus } from '../stores/message-bus.js';
import { NodeChannel } from '../stores/node-channel.js';
import { isRecord } from '../util/is-record.js';

/** An event that every node receives. */
export interface SharedEvent {
  /** Equal on every node: the node that published it, a colon, and its number there. */
  readonly id?: string;
}

/** A server's bus whose events also reach the other nodes of the server, once each. */
export class SharedEventBus implements ServerEventBus {
  private readonly channel: NodeChannel;
  private published = 0;

  /**
   * @param node the name of this node, which no other node has
   * @param local delivers to the connections of this node
   * @param server the server's name, the same on every node
   */
  constructor(
    private readonly node: string,
    private readonly local: ServerEventBus,
    messages: MessageBus,
    server: string,
    report: (error: Error) => void,
  ) {
    this.channel = new NodeChannel(messages, `events:${server}`, {
      onMessage: data => {
        if (isServerEvent(data)) local.publish(data);
      },
      onError: error => report(new Error(`Nodes miss changes of other nodes ("bus"): ${error.message}`)),
    });
  }

  publish(event: ServerEvent): void {
    const shared: ServerEvent & SharedEvent = { ...event, id: `${this.node}:${(this.published += 1)}` };
    this.local.publish(shared);
    void this.channel.send(shared);
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    return this.local.subscribe(listener);
  }

  /** Waits until this node receives events of other nodes. */
  open(): Promise<void> {
    return this.channel.open();
  }

  close(): Promise<void> {
    return this.channel.close();
  }
}

const LISTS: ReadonlySet<unknown> = new Set<ServerEvent['kind']>([
  'tools_list_changed',
  'prompts_list_changed',
  'resources_list_changed',
]);

/** A node of another version may send other events. */
export const isServerEvent = (data: unknown): data is ServerEvent =>
  isRecord(data) &&
  (LISTS.has(data['kind']) || (data['kind'] === 'resource_updated' && typeof data['uri'] === 'string'));
