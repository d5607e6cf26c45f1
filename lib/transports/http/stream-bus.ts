import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JSONRPCRequest, ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import { NotificationBuffer } from './notification-buffer.js';

/** A request to listen. */
interface Listening {
  /** Its answer is the stream. */
  readonly response: ServerResponse | undefined;
  /** The resources that the client is to be told of. */
  readonly uris: ReadonlySet<unknown>;
}

/** A server's bus, for `subscriptions/listen`: what a client leaves unread is bounded, and changes past that are dropped. */
export class StreamBus implements ServerEventBus {
  private readonly listening = new AsyncLocalStorage<Listening>();

  /** @param onError called with what a listener throws */
  constructor(
    private readonly bus: ServerEventBus,
    private readonly onError: (error: Error) => void,
  ) {}

  /** Serves a request to listen, whose answer is `response`. */
  serve<T>({ params }: JSONRPCRequest, response: ServerResponse | undefined, work: () => T): T {
    const { notifications } = (params ?? {}) as { notifications?: { resourceSubscriptions?: unknown } };
    const uris = notifications?.resourceSubscriptions;
    return this.listening.run({ response, uris: new Set<unknown>(Array.isArray(uris) ? uris : []) }, work);
  }

  publish(event: ServerEvent): void {
    this.bus.publish(event);
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    const { response, uris } = this.listening.getStore() ?? { response: undefined, uris: new Set() };
    const buffer = new NotificationBuffer(response);
    return this.bus.subscribe(event => {
      // What goes to others does not count.
      if (event.kind === 'resource_updated' && !uris.has(event.uri)) return;
      const tell = async () => {
        listener(event);
        // By then, the response shows whether the client keeps up.
        await nextTurn();
      };
      buffer.send(event, tell).catch(this.onError);
    });
  }
}
