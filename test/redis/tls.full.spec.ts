import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { connectionTo } from '../../lib/redis/connection-to.js';
import { RedisMrtrStore } from '../../lib/redis/redis-mrtr-store.js';
import { resolveRedisOptions } from '../../lib/redis/redis-options.js';
import { freePort } from '../../sample/support/free-port.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { describeWithRedis, RedisServer } from './redis-server.js';

describeWithRedis('a Redis that asks for certificates', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map(name => join(folder, name));
  let redis: RedisServer;
  let port: number;
  const log = new LogSpy();

  beforeAll(async () => {
    Logger.overrideLogger(log);
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const files = ['-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], {
      stdio: 'ignore',
    });
    port = await freePort();
    const own = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    redis = new RedisServer(undefined, ['--tls-port', `${port}`, '--tls-auth-clients', 'yes', ...own]);
    await redis.start();
  });
  afterAll(async () => {
    await redis.kill();
    rmSync(folder, { recursive: true });
    Logger.overrideLogger(false);
  });

  const connect = async (socket: object) => {
    const url = `rediss://127.0.0.1:${port}`;
    const link = await connectionTo(resolveRedisOptions({ client: { url, socket } }));
    await link.open();
    return link;
  };

  it('is used with the certificate of the client', async () => {
    const [ca, own] = [readFileSync(cert), { key: readFileSync(key), cert: readFileSync(cert) }];
    const link = await connect({ tls: true, ca, ...own });
    const store = new RedisMrtrStore(link, 'tls:');
    await store.set('a', 'b', 10);
    expect(await store.get('a')).toBe('b');
    await link.close();
  });

  it('is not used without it', async () => {
    const link = await connect({ tls: true, ca: readFileSync(cert) });
    expect(() => link.ready).toThrow('not open');
    expect(log.warnings.join()).toContain('Redis is not available');
    await link.close();
  });
});
