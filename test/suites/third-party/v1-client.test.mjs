import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { startServer } from '../conformance/support/start-server.mjs';

const WATCHED = 'test://watched-resource';
const CAPABILITIES = { sampling: {}, elicitation: {} };

/** Connects; `listening` settles with the status of the stream that notifications come on. */
async function connect(url, sessionId) {
  let answered;
  const listening = new Promise(resolve => (answered = resolve));
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    sessionId,
    fetch: async (input, init) => {
      const response = await globalThis.fetch(input, init);
      if (init?.method === 'GET') answered(response.status);
      return response;
    },
  });
  const client = new Client({ name: 'v1-client', version: '1.0.0' }, { capabilities: CAPABILITIES });
  await client.connect(transport);
  return { client, transport, listening };
}

const nextNotification = (client, schema) =>
  new Promise(resolve => client.setNotificationHandler(schema, ({ params }) => resolve(params)));

const call = (client, name, args = {}) => client.callTool({ name, arguments: args });
const text = ({ content: [block] }) => block.text;

for (const adapter of ['express', 'fastify']) {
  for (const legacy of ['sessions', 'stateless']) {
    describe(`The client of the v1 SDK on ${adapter}, ${legacy}`, () => {
      let server;
      let client;
      let transport;
      let listening;

      before(async () => {
        server = await startServer({ ADAPTER: adapter, LEGACY: legacy });
        ({ client, transport, listening } = await connect(server.url));
      });
      after(async () => {
        await client?.close();
        await server?.close();
      });

      it('lists tools', async () => {
        const { tools } = await client.listTools();
        assert.ok(tools.some(({ name }) => name === 'test_simple_text'));
        assert.ok(tools.every(({ inputSchema }) => inputSchema.type === 'object'));
      });

      it('calls a tool', async () => {
        const result = await call(client, 'test_simple_text');
        assert.equal(text(result), 'This is a simple text response for testing.');
        assert.equal(result.isError, undefined);
      });

      it('sees the failure of a tool as a result', async () => {
        const result = await call(client, 'test_error_handling');
        assert.equal(result.isError, true);
        assert.match(text(result), /intentionally/);
      });

      it('reads a resource, and one behind a template', async () => {
        const { contents } = await client.readResource({ uri: 'test://static-text' });
        assert.equal(contents[0].mimeType, 'text/plain');
        const templated = await client.readResource({ uri: 'test://template/7/data' });
        assert.equal(JSON.parse(templated.contents[0].text).id, '7');
      });

      it('gets a prompt', async () => {
        const args = { arg1: 'hello', arg2: 'world' };
        const { messages } = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: args });
        assert.match(messages[0].content.text, /hello.*world/);
      });

      it('completes an argument', async () => {
        const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
        const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: 'pa' } });
        assert.deepEqual(completion.values, ['paris']);
      });

      it('is told of progress', async () => {
        const reports = [];
        const onprogress = ({ progress, total }) => reports.push([progress, total]);
        await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, undefined, { onprogress });
        assert.deepEqual(reports, [
          [0, 100],
          [50, 100],
          [100, 100],
        ]);
      });

      if (legacy === 'stateless') {
        it('has no session, and nothing to listen to', async () => {
          assert.equal(transport.sessionId, undefined);
          assert.equal(await listening, 405);
          assert.deepEqual(client.getServerCapabilities().resources, {});
        });
        return;
      }

      it('answers what a tool asks for', async () => {
        client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
        assert.match(text(await call(client, 'test_elicitation', { message: 'Who?' })), /action=decline/);
        client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
          role: 'assistant',
          model: 'echo',
          content: params.messages[0].content,
        }));
        assert.match(text(await call(client, 'test_sampling', { prompt: 'An echo' })), /An echo/);
      });

      it('is told of a change to what it subscribed to, until it unsubscribes', async () => {
        assert.equal(await listening, 200);
        await client.subscribeResource({ uri: WATCHED });
        const updated = nextNotification(client, ResourceUpdatedNotificationSchema);
        await call(client, 'touch_watched_resource');
        assert.deepEqual(await updated, { uri: WATCHED });

        let toldAgain = false;
        client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => (toldAgain = true));
        await client.unsubscribeResource({ uri: WATCHED });
        await call(client, 'touch_watched_resource');
        // Notifications keep their order, so one that comes later shows that none came before.
        const changed = nextNotification(client, ToolListChangedNotificationSchema);
        await call(client, 'test_trigger_tool_change');
        await changed;
        assert.equal(toldAgain, false);
      });

      it('is told that the list of tools changed, and lists the new one', async () => {
        assert.equal(await listening, 200);
        const names = async () => (await client.listTools()).tools.map(({ name }) => name);
        const earlier = await names();
        const changed = nextNotification(client, ToolListChangedNotificationSchema);
        await call(client, 'test_trigger_tool_change');
        await changed;
        assert.notDeepEqual(await names(), earlier);
      });

      it('ends its session, finds it gone, and connects anew', async () => {
        const { sessionId } = transport;
        await transport.terminateSession();
        await client.close();

        const late = await connect(server.url, sessionId);
        await assert.rejects(late.client.listTools(), { code: 404 });
        await late.client.close();

        ({ client, transport, listening } = await connect(server.url));
        assert.notEqual(transport.sessionId, sessionId);
        assert.ok((await client.listTools()).tools.length > 0);
      });
    });
  }
}
