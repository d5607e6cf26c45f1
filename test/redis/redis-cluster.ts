import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../sample/support/free-port.js';
import { eventually } from './eventually.js';
import { RedisServer } from './redis-server.js';

/** How long a primary has to be missing before its replica takes over, in milliseconds. */
const NODE_TIMEOUT_MS = 1000;
const SHARDS = 3;

/** A server of a cluster. By default, the other servers reach it at a port that need not be free. */
class ClusterServer extends RedisServer {
  private busPort?: number;

  /** With both ports, for `redis-cli`. */
  get node(): string {
    const { host, port } = this.address;
    return `${host}:${port}@${this.busPort}`;
  }

  override async start(): Promise<void> {
    if (this.busPort === undefined) {
      this.busPort = await freePort();
      this.more.push('--cluster-port', `${this.busPort}`);
    }
    await super.start();
  }
}

/** A Redis Cluster of three shards, each with a replica. */
export class RedisCluster {
  private readonly folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  /** The first three are the first primaries. */
  readonly servers = Array.from({ length: 2 * SHARDS }, (_, index) => {
    const file = join(this.folder, `nodes-${index}.conf`);
    const own = ['--cluster-enabled', 'yes', '--cluster-config-file', file];
    return new ClusterServer(undefined, [...own, '--cluster-node-timeout', `${NODE_TIMEOUT_MS}`]);
  });

  get options() {
    return { cluster: { rootNodes: this.servers.map(({ url }) => ({ url })) } };
  }

  async start(): Promise<void> {
    await Promise.all(this.servers.map(server => server.start()));
    const addresses = this.servers.map(({ node }) => node);
    this.cli(0, '--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes');
    await this.whole();
  }

  /** Waits until all slots are served, and each primary that runs has its replica. */
  async whole(): Promise<void> {
    await eventually(() => {
      const running = this.servers.flatMap(({ isRunning }, index) => (isRunning ? [index] : []));
      for (const index of running) {
        const info = this.cli(index, 'cluster', 'info');
        if (!info.includes('cluster_state:ok')) throw new Error(info);
        const role = this.cli(index, 'info', 'replication');
        if (role.includes('master_link_status:down')) throw new Error(role);
      }
    });
  }

  /** Kills the primary that serves a key. Its replica takes over. @returns the server */
  async killPrimaryOf(key: string): Promise<RedisServer> {
    const living = this.servers.findIndex(({ isRunning }) => isRunning);
    const slot = Number(this.cli(living, 'cluster', 'keyslot', key));
    const line = this.cli(living, 'cluster', 'nodes')
      .split('\n')
      .find(text => text.includes('master') && !text.includes('fail') && holds(text, slot))!;
    const port = Number(/:(\d+)@/.exec(line)![1]);
    const server = this.servers.find(({ address }) => address.port === port)!;
    await server.kill();
    return server;
  }

  async kill(): Promise<void> {
    await Promise.all(this.servers.map(server => server.kill()));
    rmSync(this.folder, { recursive: true });
  }

  private cli(server: number, ...args: string[]): string {
    const own = args[0] === '--cluster' ? [] : ['-p', `${this.servers[server].address.port}`];
    return execFileSync('redis-cli', [...own, ...args], { encoding: 'utf8' });
  }
}

const holds = (line: string, slot: number): boolean =>
  [...line.matchAll(/ (\d+)(?:-(\d+))?(?= |$)/g)].some(
    ([, from, to = from]) => Number(from) <= slot && slot <= Number(to),
  );
