import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../sample/support/free-port.js';
import { eventually } from './eventually.js';
import { RedisServer } from './redis-server.js';

const NAME = 'shop';

/** A primary with a replica, and a Sentinel that lets the replica take over. */
export class SentinelGroup {
  private readonly folder = mkdtempSync(join(tmpdir(), 'sentinel-'));
  readonly primary = new RedisServer();
  private replica?: RedisServer;
  private sentinel?: ChildProcess;
  private port = 0;

  get options() {
    return { sentinel: { name: NAME, sentinelRootNodes: [{ host: '127.0.0.1', port: this.port }] } };
  }

  async start(): Promise<void> {
    await this.primary.start();
    const { host, port } = this.primary.address;
    this.replica = new RedisServer(undefined, ['--replicaof', `${host} ${port}`]);
    await this.replica.start();
    this.port = await freePort();
    const file = join(this.folder, 'sentinel.conf');
    const lines = [
      `port ${this.port}`,
      `sentinel monitor ${NAME} ${host} ${port} 1`,
      `sentinel down-after-milliseconds ${NAME} 1000`,
      `sentinel failover-timeout ${NAME} 5000`,
    ];
    writeFileSync(file, lines.join('\n'));
    this.sentinel = spawn('redis-server', [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: this.sentinel.stdout! })) {
      if (line.includes('Sentinel ID')) break;
    }
    this.sentinel.stdout!.resume();
    await eventually(() => {
      const known = execFileSync('redis-cli', ['-p', `${this.port}`, 'sentinel', 'replicas', NAME]);
      if (!known.includes('slave')) throw new Error('the Sentinel does not know the replica');
    });
  }

  /** Waits until the replica is the primary. */
  async failedOver(): Promise<void> {
    const asked = ['-p', `${this.port}`, 'sentinel', 'get-master-addr-by-name', NAME];
    await eventually(() => {
      const [, port] = execFileSync('redis-cli', asked, { encoding: 'utf8' }).split('\n');
      if (Number(port) !== this.replica!.address.port) throw new Error('the replica is no primary');
    });
  }

  killPrimaryOf(_key: string): Promise<void> {
    return this.primary.kill();
  }

  async kill(): Promise<void> {
    if (this.sentinel) {
      this.sentinel.kill();
      await once(this.sentinel, 'exit');
    }
    await Promise.all([this.primary.kill(), this.replica?.kill()]);
    rmSync(this.folder, { recursive: true });
  }
}
