import { McpBootstrapError } from '../../exceptions/mcp-bootstrap.error.js';
import { checker } from '../../mcp.module-definition.js';
import { checkServer } from './check-server.js';
import type { InterceptorServerOptions } from './host-options.js';
import { idOf, openHost, type OpenedHost, type OpenHostOptions } from './open-host.js';
import { DiscoveryError, type RemoteHost } from './remote-host.js';

/** The most hosts that are kept open for callers; past it, the one that was used longest ago is closed. */
const MAX_HOSTS = 100;

/** Hosts that are chosen for each message: one connection for all callers that are given the same one. */
export class HostPool {
  /** In the order of their last use. */
  private readonly open = new Map<string, Promise<OpenedHost>>();

  constructor(
    private readonly options: OpenHostOptions,
    private readonly maxHosts = MAX_HOSTS,
  ) {}

  /**
   * The host of these options. Of two with one `name` and one `connectionId`, the first one's options count.
   * @throws DiscoveryError for options that cannot be
   */
  async get(options: InterceptorServerOptions): Promise<RemoteHost> {
    this.check(options);
    const id = idOf(options);
    const opening = this.open.get(id) ?? openHost(options, this.options);
    this.open.delete(id);
    this.open.set(id, opening);
    await this.evict(id);
    try {
      return (await opening).host;
    } catch (error) {
      if (this.open.get(id) === opening) this.open.delete(id);
      throw error;
    }
  }

  async close(): Promise<void> {
    const all = [...this.open.values()];
    this.open.clear();
    await Promise.all(all.map(close));
  }

  /** Those that are asked right now are left alone, until the next one is opened. */
  private async evict(chosen: string): Promise<void> {
    for (const [id, opening] of this.open) {
      if (this.open.size <= this.maxHosts) return;
      if (id === chosen) continue;
      const opened = await opening.catch(() => undefined);
      if (opened?.host.isBusy || this.open.get(id) !== opening) continue;
      this.open.delete(id);
      void opened?.close();
    }
  }

  /** What a resolver makes is held to what the options may be. */
  private check(options: InterceptorServerOptions): void {
    try {
      checkServer(options, 'resolveServers', checker('interceptors'));
    } catch (error) {
      if (error instanceof McpBootstrapError) throw new DiscoveryError(error.message);
      throw error;
    }
  }
}

const close = (opening: Promise<OpenedHost>): Promise<void> =>
  opening.then(
    opened => opened.close(),
    () => undefined,
  );
