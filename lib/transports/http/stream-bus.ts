import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JSONRPCRequest, ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import { NotificationBuffer } from './notification-buffer.js';

/** A `subscriptions/listen` request. */
interface Listening {
  /** The response that carries the stream. */
  readonly response: ServerResponse | undefined;
  /** The resources that the client subscribes to. */
  readonly uris: ReadonlySet<unknown>;
}

/** A server's bus for `subscriptions/listen`. It bounds the unread changes of a client, and drops further changes. */
export class StreamBus implements ServerEventBus {
  private readonly listening = new AsyncLocalStorage<Listening>();

  /** @param onError receives errors of listeners */
  constructor(
    private readonly bus: ServerEventBus,
    private readonly onError: (error: Error) => void,
  ) {}

  /** Serves a listen request, whose answer is `response`. */
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
      // Changes of other resources do not count as unread.
      if (event.kind === 'resource_updated' && !uris.has(event.uri)) return;
      const tell = async () => {
        listener(event);
        // After this turn, the response shows whether the client keeps up.
        await nextTurn();
      };
      buffer.send(event, tell).catch(this.onError);
    });
  }
}
