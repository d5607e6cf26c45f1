import {
  InMemoryServerEventBus,
  type ServerCapabilities,
  type ServerEvent,
  type ServerEventBus,
  type Transport,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { ClientChannel, Era, Subscriptions } from '../protocol/mcp-call.js';
import type { McpServerInstance } from './mcp-server-instance.js';
import type { RunningCalls } from '../protocol/running-calls.js';
import { SdkServer } from './sdk-server.js';
import type { Upstream } from './upstream.js';

/** The most characters that the URIs of one connection's subscriptions may have. */
const MAX_SUBSCRIBED_LENGTH = 65_536;

/** Tells whoever invokes this server's interceptors that they are to be listed again. */
const INTERCEPTORS_CHANGED = 'notifications/interceptors/list_changed';

/** How a connection learns of changes. */
export interface ConnectionOptions {
  /** The calls of its transport. */
  readonly running: RunningCalls;
  readonly bus: ServerEventBus;
  /** The most resources that one connection may subscribe to. */
  readonly maxSubscriptions: number;
  /** Whether every change is forwarded, because the transport itself knows who listens to what (2026-07-28, stdio). */
  readonly forwardAll: boolean;
  /** What stands behind the server and uses the client's side of the connection (2025 era). */
  readonly upstream?: Upstream;
}

/** The SDK's server for a connection that lasts: a 2025-era session, or stdio. It passes changes on to the client. */
export class ConnectionServer extends SdkServer {
  private readonly subscribed = new Set<string>();
  /** The length of what is subscribed to. */
  private subscribedLength = 0;
  private readonly options: ConnectionOptions;

  constructor(instance: McpServerInstance, capabilities: ServerCapabilities, options: ConnectionOptions) {
    super(instance, capabilities, options.running);
    this.options = options;
    const { upstream, bus } = options;
    if (!upstream) return;
    const { server } = this;
    const tell = this.tellerOnConnection();
    const channel: ClientChannel = {
      bus,
      get capabilities() {
        return server.getClientCapabilities();
      },
      request: (method, params, options) => this.askOnConnection(method, params, options),
      notify: (method, params = {}) => tell(method, { ...params }),
    };
    this.channel = channel;
    server.oninitialized = () => upstream.opened(channel);
    server.setNotificationHandler('notifications/roots/list_changed', ({ method, params }) =>
      upstream.notified(channel, method, params),
    );
  }

  protected override get carriesRequests(): boolean {
    return true;
  }

  protected override readonly subscriptions: Subscriptions = {
    has: uri => this.subscribed.has(uri),
    add: uri => {
      if (this.subscribed.has(uri)) return;
      const { maxSubscriptions } = this.options;
      if (this.subscribed.size >= maxSubscriptions) throw tooMany(`${maxSubscriptions} resources`);
      if (this.subscribedLength + uri.length > MAX_SUBSCRIBED_LENGTH) {
        throw tooMany(`${MAX_SUBSCRIBED_LENGTH} characters`);
      }
      this.subscribed.add(uri);
      this.subscribedLength += uri.length;
    },
    delete: uri => {
      if (this.subscribed.delete(uri)) this.subscribedLength -= uri.length;
    },
  };

  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    const unsubscribe = this.options.bus.subscribe(event => {
      if (!this.concerns(event)) return;
      this.forward(event).catch((error: unknown) => this.instance.report(error as Error));
    });
    const { server } = this;
    const unwatch = this.instance.onInterceptorsChanged(() => {
      server
        .notification({ method: INTERCEPTORS_CHANGED })
        .catch((error: Error) => this.instance.report(error));
    });
    const onclose = server.onclose;
    const opened = performance.now();
    server.onclose = () => {
      this.instance.observer?.disconnected({
        durationMs: performance.now() - opened,
        protocolVersion: server.getNegotiatedProtocolVersion(),
        isHttp: transport.sessionId !== undefined,
      });
      unsubscribe();
      unwatch();
      if (this.channel) this.options.upstream?.closed(this.channel);
      onclose?.();
    };
  }

  /** Whether the client is to be told. What goes to others does not count as unread. */
  private concerns(event: ServerEvent): boolean {
    return event.kind !== 'resource_updated' || this.options.forwardAll || this.subscribed.has(event.uri);
  }

  private async forward(event: ServerEvent): Promise<void> {
    const { server } = this;
    const { tools, prompts, resources } = server.getCapabilities();
    switch (event.kind) {
      case 'tools_list_changed':
        return tools && server.sendToolListChanged();
      case 'prompts_list_changed':
        return prompts && server.sendPromptListChanged();
      case 'resources_list_changed':
        return resources && server.sendResourceListChanged();
      case 'resource_updated':
        return resources && server.sendResourceUpdated({ uri: event.uri });
    }
  }
}

/**
 * The SDK's server for a connection that lasts: a session, or stdio.
 * @param running the calls of its transport
 */
export function serverForConnection(
  instance: McpServerInstance,
  era: Era,
  running = instance.running,
): ConnectionServer {
  const { upstream, options } = instance;
  // What an upstream tells one 2025-era client is not for the others.
  const own = upstream && era === 'legacy';
  return new ConnectionServer(instance, instance.capabilities, {
    running,
    bus: own ? new InMemoryServerEventBus(error => instance.report(error)) : instance.bus,
    ...(own && { upstream }),
    maxSubscriptions: options.sessions.maxSubscriptions,
    forwardAll: era === 'modern',
  });
}

const tooMany = (most: string): McpException =>
  new McpException(McpErrorCode.Refused, `Too many subscriptions: at most ${most} per connection`);
