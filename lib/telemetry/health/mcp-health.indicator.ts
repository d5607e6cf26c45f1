import { Inject, Injectable, Optional } from '@nestjs/common';
import { InterceptorLoader } from '../../module/interceptor-loader.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { McpServers } from '../../module/mcp-servers.js';
import { SHARED, type SharedState } from '../../stores/shared-state.js';
import { unlessAborted } from '../../util/abort.js';

type Status = 'up' | 'down';

/** A result for `@nestjs/terminus`. */
export type McpHealth<K extends string = string> = Record<
  K,
  {
    readonly status: Status;
    /** Servers that take requests. */
    readonly servers?: Readonly<Record<string, Status>>;
    /** Redis, if `McpRedisModule` is imported. */
    readonly redis?: Status;
    /** Stores of extensions, such as the one of `McpTasksModule`. */
    readonly stores?: Readonly<Record<string, Status>>;
    /** Backends of gateways. */
    readonly backends?: Readonly<Record<string, Status>>;
    /** Hosts of `interceptors.servers`. */
    readonly interceptorHosts?: Readonly<Record<string, Status>>;
  }
>;

/** Default time for the dependencies to answer, in milliseconds. */
const TIMEOUT_MS = 1000;

/**
 * The health of the application's MCP servers, for `@nestjs/terminus` 11 and 12.
 * @example
 * @Get('ready')
 * @HealthCheck()
 * ready() {
 *   return this.health.check([() => this.mcp.readiness()]);
 * }
 */
@Injectable()
export class McpHealthIndicator {
  /** @internal Nest makes it. */
  constructor(
    private readonly servers: McpServers,
    private readonly interceptors: InterceptorLoader,
    @Optional() @Inject(SHARED) private readonly shared?: SharedState,
  ) {}

  /**
   * Whether the process answers. It is up while dependencies are down and while the node drains: a restart does not help.
   * Return it from the route: the `HealthCheckService` of Terminus answers 503 to all checks while the application shuts down.
   */
  liveness<const K extends string = 'mcp'>(key: K = 'mcp' as K): McpHealth<K> {
    return { [key]: { status: 'up' } } as McpHealth<K>;
  }

  /**
   * Whether the node should get requests: its servers are open and do not shut down, Redis and the store of tasks
   * answer, a backend of each gateway answers, and the interceptor hosts without `skipWhenUnlisted` answer. It asks them at each call. Never rejects.
   * @param options `timeoutMs`: time for the dependencies to answer, in milliseconds. Default: 1,000. `dependencies: false`: only
   * whether the servers take requests, for load balancers: they must not drop all nodes when a store that these share is away.
   */
  async readiness<const K extends string = 'mcp'>(
    key: K = 'mcp' as K,
    {
      timeoutMs = TIMEOUT_MS,
      dependencies = true,
    }: { readonly timeoutMs?: number; readonly dependencies?: boolean } = {},
  ): Promise<McpHealth<K>> {
    const servers = this.servers.drafts().map(({ options: { name }, server }) => ({
      name,
      isUp: server?.isOpen === true,
    }));
    const areOpen = servers.every(({ isUp }) => isUp);
    if (!dependencies)
      return { [key]: { status: statusOf(areOpen), servers: statusesOf(servers) } } as McpHealth<K>;
    const over = AbortSignal.timeout(timeoutMs);
    const [redis, stores, gateways, hosts] = await Promise.all([
      this.shared &&
        succeeds(
          this.shared.ping().then(() => true),
          over,
        ),
      Promise.all(this.servers.all().map(({ extensions }) => extensions.health(over))),
      Promise.all(this.servers.all().map(server => backendsOf(server, over))),
      this.hosts(over),
    ]);
    const isReady =
      areOpen &&
      redis !== false &&
      stores.flat().every(({ isUp }) => isUp) &&
      gateways.every(backends => backends.length === 0 || backends.some(({ isUp }) => isUp)) &&
      hosts.every(({ isUp, isRequired }) => isUp || !isRequired);
    const health = {
      status: statusOf(isReady),
      servers: statusesOf(servers),
      ...(redis !== undefined && { redis: statusOf(redis) }),
      ...(stores.flat().length > 0 && { stores: statusesOf(stores.flat()) }),
      ...(gateways.flat().length > 0 && { backends: statusesOf(gateways.flat()) }),
      ...(hosts.length > 0 && { interceptorHosts: statusesOf(hosts) }),
    };
    return { [key]: health } as McpHealth<K>;
  }

  private hosts(over: AbortSignal): Promise<{ name: string; isUp: boolean; isRequired: boolean }[]> {
    const { remoteHosts } = this.interceptors;
    return Promise.all(
      remoteHosts.map(async host => {
        const { name, isRequired } = host;
        return { name, isRequired, isUp: await succeeds(host.isUp(over), over) };
      }),
    );
  }
}

const backendsOf = ({ handlers }: McpServerInstance, over: AbortSignal) =>
  handlers.health?.(over) ?? Promise.resolve([]);

const succeeds = (work: Promise<boolean>, over: AbortSignal): Promise<boolean> =>
  unlessAborted(work, over).catch(() => false);

const statusOf = (isUp: boolean): Status => (isUp ? 'up' : 'down');

/** Two servers may have hosts or backends of one name: the name is down if one of them is. */
const statusesOf = (all: readonly { name: string; isUp: boolean }[]): Record<string, Status> =>
  Object.fromEntries(
    [...all]
      .sort((one, other) => Number(other.isUp) - Number(one.isUp))
      .map(({ name, isUp }) => [name, statusOf(isUp)]),
  );
