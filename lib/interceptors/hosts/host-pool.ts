import type { InterceptorServerOptions } from './host-options.js';
import { openHost, type OpenedHost, type OpenHostOptions } from './open-host.js';
import type { RemoteHost } from './remote-host.js';

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

  /** The host of these options; of two with one `connectionId`, the first one's options count. */
  async get(options: InterceptorServerOptions): Promise<RemoteHost> {
    const id = options.connectionId ?? options.name;
    const opening = this.open.get(id) ?? openHost(options, this.options);
    this.open.delete(id);
    this.open.set(id, opening);
    if (this.open.size > this.maxHosts) {
      const [[oldest, unused]] = this.open;
      this.open.delete(oldest);
      void close(unused);
    }
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
}

const close = (opening: Promise<OpenedHost>): Promise<void> =>
  opening.then(
    opened => opened.close(),
    () => undefined,
  );
