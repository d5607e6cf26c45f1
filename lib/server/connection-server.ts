import {
  InMemoryServerEventBus,
  type LoggingLevel,
  type NotificationOptions,
  type ServerCapabilities,
  type ServerEvent,
  type ServerEventBus,
  type Transport,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { CHANGES } from '../protocol/changes.js';
import type { ClientChannel, Era, SharedChannel, Subscriptions } from '../protocol/mcp-call.js';
import type { McpServerInstance } from './mcp-server-instance.js';
import { Slices } from '../util/slices.js';
import type { RunningCalls } from '../protocol/running-calls.js';
import { SdkServer } from './sdk-server.js';
import type { SharedEvent } from './shared-event-bus.js';
import type { ChannelListener } from '../protocol/handlers.js';

/** Maximum characters of all subscribed URIs of one connection. */
const MAX_SUBSCRIBED_LENGTH = 65_536;

/** Changes for all connections of the process. */
const SLICES = new Slices();

/** A change of a connection's state. */
export interface StateChange {
  readonly level?: LoggingLevel;
  readonly subscribe?: string;
  readonly unsubscribe?: string;
}

/** A notification's options, with a key that the SDK passes to the transport. */
export interface KeyedOptions extends NotificationOptions {
  /** Identifies a change that other nodes also report. */
  readonly key?: string;
}

/** How a connection receives changes. */
export interface ConnectionOptions {
  /** The calls of the connection's transport. */
  readonly running: RunningCalls;
  readonly bus: ServerEventBus;
  /** Maximum resources that one connection may subscribe to. */
  readonly maxSubscriptions: number;
  /** Uses the client's side of the connection (2025 era). */
  readonly channels?: ChannelListener;
}

/** The SDK's server for a lasting connection: a 2025-era session, or stdio. It forwards changes to the client. */
export class ConnectionServer extends SdkServer {
  readonly subscribed = new Set<string>();
  /** The total length of the subscribed URIs. */
  private subscribedLength = 0;
  private readonly options: ConnectionOptions;
  /** What nodes share of the client's side. */
  sharedChannel?: SharedChannel;
  /**
   * Called before the connection changes, so that other nodes that serve its client apply the change. If it throws, the
   * change is refused.
   */
  share?: (change: StateChange) => Promise<void>;
  /** Whether the end of the connection is measured; not where a session is only visited. */
  isObserved = true;

  constructor(
    instance: McpServerInstance,
    era: Era,
    capabilities: ServerCapabilities,
    options: ConnectionOptions,
  ) {
    super(instance, era, capabilities, options.running);
    this.options = options;
    const { channels, bus } = options;
    if (!channels) return;
    const { server } = this;
    const tell = this.tellerOnConnection();
    const shared = () => this.sharedChannel;
    const channel: ClientChannel = {
      bus,
      get shared() {
        return shared();
      },
      get capabilities() {
        return server.getClientCapabilities();
      },
      request: (method, params, options) => this.askOnConnection(method, params, options),
      notify: (method, params = {}) => tell(method, { ...params }),
    };
    this.channel = channel;
    server.oninitialized = () => this.opened();
    server.setNotificationHandler('notifications/roots/list_changed', ({ method, params }) =>
      channels.notified(channel, method, params),
    );
  }

  protected override get carriesRequests(): boolean {
    return true;
  }

  protected override readonly subscriptions: Subscriptions = {
    has: uri => this.subscribed.has(uri),
    add: async uri => {
      if (this.subscribed.has(uri)) return;
      const { maxSubscriptions } = this.options;
      if (this.subscribed.size >= maxSubscriptions) throw tooMany(`${maxSubscriptions} resources`);
      if (this.subscribedLength + uri.length > MAX_SUBSCRIBED_LENGTH) {
        throw tooMany(`${MAX_SUBSCRIBED_LENGTH} characters`);
      }
      this.apply({ subscribe: uri });
      await this.shared({ subscribe: uri }, { unsubscribe: uri });
    },
    delete: async uri => {
      if (!this.subscribed.has(uri)) return;
      this.apply({ unsubscribe: uri });
      await this.shared({ unsubscribe: uri }, { subscribe: uri });
    },
  };

  /** The client may be used, or this node has become the home of its session. */
  opened(): void {
    if (this.channel) this.options.channels?.opened(this.channel);
  }

  /** Replaces all subscriptions. */
  subscribedTo(uris: readonly string[]): void {
    const kept = new Set(uris);
    for (const uri of [...this.subscribed]) if (!kept.has(uri)) this.apply({ unsubscribe: uri });
    for (const uri of kept) this.apply({ subscribe: uri });
  }

  /** Applies a change that another node made. */
  apply({ level, subscribe, unsubscribe }: StateChange): void {
    if (level !== undefined) this.level = level;
    if (subscribe !== undefined && !this.subscribed.has(subscribe)) {
      this.subscribed.add(subscribe);
      this.subscribedLength += subscribe.length;
    }
    if (unsubscribe !== undefined && this.subscribed.delete(unsubscribe)) {
      this.subscribedLength -= unsubscribe.length;
    }
  }

  protected override async setLevel(level: LoggingLevel): Promise<void> {
    const before = this.level;
    this.apply({ level });
    await this.shared({ level }, { level: before });
  }

  /**
   * The change is applied before it is shared, so that parallel calls count it, and again after it, because a record
   * without it may have been read in between. If sharing fails, it is undone.
   */
  private async shared(change: StateChange, undo: StateChange): Promise<void> {
    if (!this.share) return;
    try {
      await this.share(change);
      this.apply(change);
    } catch (error) {
      this.apply(undo);
      throw error;
    }
  }

  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    let isOpen = true;
    const unsubscribe = this.options.bus.subscribe(event => {
      if (!this.concerns(event)) return;
      SLICES.add(() => {
        if (isOpen) this.tell(event);
      });
    });
    const { server } = this;
    const unwatch = this.instance.extensions.onNotification(method => {
      server.notification({ method }).catch((error: Error) => this.instance.report(error));
    });
    const onclose = server.onclose;
    const opened = performance.now();
    server.onclose = () => {
      isOpen = false;
      if (this.isObserved)
        this.instance.observer?.disconnected({
          durationMs: performance.now() - opened,
          protocolVersion: server.getNegotiatedProtocolVersion(),
          isHttp: transport.sessionId !== undefined,
        });
      unsubscribe();
      unwatch();
      if (this.channel) this.options.channels?.closed(this.channel);
      onclose?.();
    };
  }

  /** Tells the client of a change, if it concerns the client. */
  tell(event: ServerEvent & SharedEvent): void {
    if (!this.concerns(event)) return;
    this.forward(event).catch((error: unknown) => this.instance.report(error as Error));
  }

  /** Whether the client receives the event. Events for other clients do not count as unread. */
  private concerns(event: ServerEvent): boolean {
    return event.kind !== 'resource_updated' || this.subscribed.has(event.uri);
  }

  private async forward(event: ServerEvent & SharedEvent): Promise<void> {
    const { server } = this;
    const [capability, , , method] = CHANGES[event.kind];
    if (!server.getCapabilities()[capability]) return;
    const params = event.kind === 'resource_updated' ? { uri: event.uri } : undefined;
    const options: KeyedOptions = { key: event.id };
    await server.notification({ method, ...(params && { params }) }, options);
  }
}

/**
 * Creates the SDK's server for a lasting connection: a session, or stdio.
 * @param running the calls of its transport
 */
export function serverForConnection(
  instance: McpServerInstance,
  era: Era,
  running = instance.running,
): ConnectionServer {
  const { handlers, options } = instance;
  const isLegacy = era === 'legacy';
  const channels = isLegacy ? handlers.channels : undefined;
  return new ConnectionServer(instance, era, instance.capabilities, {
    running,
    // A client with a channel is notified separately, and a client of 2026-07-28 listens instead.
    bus: isLegacy && !channels ? instance.bus : new InMemoryServerEventBus(),
    channels,
    maxSubscriptions: options.sessions.maxSubscriptions,
  });
}

const tooMany = (most: string): McpException =>
  new McpException(McpErrorCode.Refused, `Too many subscriptions: at most ${most} per connection`);
