import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Client } from '@modelcontextprotocol/client';
import { textOf } from '../fixtures/matrix.js';
import { fakeBackend, type FakeBackend } from './fake-backend.js';
import { connect, ERAS, outcomeOf, startGateway, type Running } from './support.js';

const uri = 'good://a';

describe.each(ERAS)(
  'of several backends, one that takes connections and says nothing, for a %s client',
  era => {
    let hole: Server;
    const sockets = new Set<Socket>();
    let good: FakeBackend;
    let gateway: Running;
    let client: Client;

    beforeAll(async () => {
      let isClosed = true;
      hole = createServer(socket => {
        sockets.add(socket.on('error', () => {}));
        if (isClosed) socket.destroy();
      }).listen(0, '127.0.0.1');
      await once(hole, 'listening');
      good = await fakeBackend(
        {
          'tools/call': ({ reply }) => reply({ content: [{ type: 'text', text: 'good' }] }),
          'resources/list': ({ reply }) => reply({ resources: [{ uri, name: 'a' }] }),
          'resources/templates/list': ({ reply }) => reply({ resourceTemplates: [] }),
          'resources/read': ({ reply }) => reply({ contents: [{ uri, text: 'read' }] }),
        },
        'modern',
        { tools: {}, resources: {} },
      );
      const { port } = hole.address() as AddressInfo;
      gateway = await startGateway({
        backends: {
          // Refuses the first attempt, and would keep the next ones for longer than any test.
          hole: {
            url: `http://127.0.0.1:${port}/mcp`,
            reconnectDelayMs: 1,
            maxReconnectDelayMs: 1,
            connectTimeoutMs: 600_000,
          },
          good: { url: good.url },
        },
      });
      client = await connect(gateway.url, era);
      isClosed = false;
    });
    afterAll(async () => {
      await client.close();
      await gateway.app.close();
      good.close();
      for (const socket of sockets) socket.destroy();
      hole.close();
    });

    it('keeps no call of another waiting', async () => {
      expect(textOf(await client.callTool({ name: 'good_t' }))).toBe('good');
    });

    it('is left out of lists', async () => {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['good_t']);
      expect((await client.listResources()).resources).toHaveLength(1);
    });

    it('keeps nobody from a resource of another', async () => {
      expect((await client.readResource({ uri })).contents).toMatchObject([{ text: 'read' }]);
      expect(await outcomeOf(client.readResource({ uri: 'other://a' }))).toMatchObject({
        code: -32602,
      });
    });
  },
);
