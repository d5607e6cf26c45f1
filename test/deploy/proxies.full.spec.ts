import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isInstalled, startHaproxy, startNginx, type Proxy } from '../redis/proxies.js';
import { ROOT } from '../tooling/docs-pages.js';

const MODERN = '2026-07-28';
const REGIONS = ['eu', 'us'];

/** Answers with the name of its region. */
async function startRegion(name: string): Promise<Server> {
  const server = createServer((_, response) => response.end(name)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe.each([
  ['nginx', startNginx, 'nginx-header-routing.conf'],
  ['haproxy', startHaproxy, 'haproxy-header-routing.cfg'],
] as const)('header routing of %s', (program, startProxy, file) => {
  const servers: Server[] = [];
  let proxy: Proxy | undefined;
  afterAll(async () => {
    await proxy?.stop();
    for (const server of servers) server.close();
  });

  // eslint-disable-next-line no-restricted-syntax -- the program may be missing
  (isInstalled(program) ? it : it.skip)(
    'goes by the header, and refuses what nobody would check',
    async () => {
      for (const region of REGIONS) servers.push(await startRegion(region));
      proxy = await startProxy(
        servers.map(server => (server.address() as AddressInfo).port),
        file,
      );
      const { url } = proxy;
      const send = async (headers: Record<string, string>) => {
        const answer = await fetch(url, { method: 'POST', headers, body: '{}' });
        return answer.ok ? answer.text() : answer.status;
      };
      const modern = { 'mcp-protocol-version': MODERN };
      expect(await send({ ...modern, 'mcp-param-region': 'eu' })).toBe('eu');
      expect(await send({ ...modern, 'mcp-param-region': 'us' })).toBe('us');
      expect(await send(modern)).toBe('eu');
      expect(await send({ ...modern, 'mcp-param-region': 'mars' })).toBe(400);
      expect(await send({ 'mcp-protocol-version': '2025-11-25', 'mcp-param-region': 'us' })).toBe(400);
      expect(await send({ 'mcp-param-region': 'us' })).toBe(400);
    },
  );
});

// eslint-disable-next-line no-restricted-syntax -- the program may be missing
(isInstalled('haproxy') ? it : it.skip)('haproxy accepts haproxy.cfg as it is', () => {
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };
  const { status, stderr } = spawnSync('haproxy', ['-c', '-f', `${ROOT}/deploy/haproxy.cfg`], {
    env,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});
