import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createApplicationInputHandler,
  createTaskSessionFromClient,
  resultFromTaskOutcome,
} from '@modelcontextprotocol/ext-tasks/client';
import {
  CancelTaskResultV2Schema,
  contributeTaskFilterV2,
  CreateTaskResultV2Schema,
  GetTaskResultV2Schema,
  readAcceptedTaskIdsV2,
  TaskStatusNotificationV2Schema,
  UpdateTaskResultV2Schema,
  withTaskCapabilityV2,
} from '@modelcontextprotocol/ext-tasks/core/v2';
import { startServer } from '../conformance/support/start-server.mjs';

const VERSION = '2026-07-28';
const INFO = { name: 'ext-tasks', version: '0.2.2' };
const CAPABILITIES = { elicitation: { form: {} } };

/** The schemas that judge the answers. */
const SCHEMAS = {
  'tasks/get': GetTaskResultV2Schema,
  'tasks/update': UpdateTaskResultV2Schema,
  'tasks/cancel': CancelTaskResultV2Schema,
};

const schemaOf = (method, { resultType }) =>
  method === 'tools/call' && resultType === 'task' ? CreateTaskResultV2Schema : SCHEMAS[method];

let id = 0;

const post = (url, { method, params }, signal) =>
  globalThis.fetch(url, {
    method: 'POST',
    signal,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...((params.taskId ?? params.name) && { 'mcp-name': params.taskId ?? params.name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
  });

/** The messages of a stream of server-sent events. */
async function* messagesOf({ body }) {
  let rest = '';
  for await (const chunk of body.pipeThrough(new globalThis.TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.startsWith('data: {')) yield JSON.parse(line.slice('data: '.length));
  }
}

/** Sends what the client of the SDK does not send, and judges the answers. */
const dispatchTo =
  (url, judged) =>
  async (request, { signal } = {}) => {
    const response = await post(url, request, signal);
    const text = await response.text();
    const answer = text.startsWith('{') ? text : /^data: (\{.+)$/m.exec(text)[1];
    const { result, error } = JSON.parse(answer);
    if (error) return { kind: 'error', error };
    const schema = schemaOf(request.method, result);
    if (schema) {
      schema.parse(result);
      judged.add(request.method);
    }
    return { kind: 'result', result };
  };

const SUBJECTS = [
  ['Express', { ADAPTER: 'express' }],
  ['Fastify', { ADAPTER: 'fastify' }],
  ['a gateway', { ADAPTER: 'express', isGateway: true }],
];

async function startSubject({ isGateway, ...env }) {
  const server = await startServer(env);
  if (!isGateway) return server;
  const gateway = await startServer({ ...env, BACKEND: server.url });
  return { url: gateway.url, close: () => gateway.close().finally(server.close) };
}

for (const [name, env] of SUBJECTS) {
  describe(`The client of the tasks extension on ${name}`, () => {
    const judged = new Set();
    const asked = [];
    let server;
    let session;
    const clients = [];

    const connect = async () => {
      const client = new Client(INFO, {
        capabilities: CAPABILITIES,
        versionNegotiation: { mode: { pin: VERSION } },
      });
      clients.push(client);
      await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
      return createTaskSessionFromClient(client, {
        endpointId: server.url,
        rawDispatch: dispatchTo(server.url, judged),
        v2RequestFraming: { protocolVersion: VERSION, clientInfo: INFO, clientCapabilities: CAPABILITIES },
        onInputRequest: createApplicationInputHandler({
          elicitation: ({ params }, { scope }) => {
            asked.push([scope, params.message]);
            const { properties } = params.requestedSchema;
            return {
              action: 'accept',
              content: properties.confirm ? { confirm: true } : { name: params.message },
            };
          },
          sampling: () => assert.fail('Nobody samples'),
          roots: () => assert.fail('Nobody lists roots'),
        }),
      });
    };

    before(async () => {
      server = await startSubject(env);
      session = await connect();
    });
    after(async () => {
      for (const client of clients) await client.close();
      await server?.close();
    });

    const settle = async (tool, args = {}) => {
      const execution = await session.callTool(tool, args);
      const { outcome } = await execution.settle();
      return { kind: execution.kind, outcome };
    };

    it('calls a tool without a task', async () => {
      const { kind, outcome } = await settle('greet', { name: 'Ann' });
      assert.equal(kind, 'immediate');
      assert.equal(resultFromTaskOutcome(outcome).content[0].text, 'Hello, Ann!');
    });

    it('waits for the result of a task', async () => {
      const { kind, outcome } = await settle('slow_compute', { seconds: 0.2, label: 'it' });
      assert.equal(kind, 'task');
      assert.equal(resultFromTaskOutcome(outcome).content[0].text, 'it took 0.2 s');
    });

    it('sees a tool error as a result, and a protocol error as a failure', async () => {
      const { outcome: completed } = await settle('failing_job');
      assert.equal(resultFromTaskOutcome(completed).isError, true);
      const { outcome: failed } = await settle('protocol_error_job');
      assert.equal(failed.status, 'failed');
      assert.equal(failed.error.code, -32603);
    });

    it('answers what a task asks, several questions at a time, and what the call asks before its task', async () => {
      asked.length = 0;
      const { outcome } = await settle('confirm_delete', { filename: 'a.txt' });
      assert.equal(resultFromTaskOutcome(outcome).content[0].text, 'a.txt is deleted');
      const { outcome: both } = await settle('multi_input');
      assert.deepEqual(JSON.parse(resultFromTaskOutcome(both).content[0].text), [
        { name: 'First name?' },
        { name: 'Second name?' },
      ]);
      const { outcome: before } = await settle('test_tool_with_task');
      assert.equal(resultFromTaskOutcome(before).content[0].text, 'Hello, What is your name?!');
      assert.deepEqual(asked, [
        ['task', 'Delete a.txt?'],
        ['task', 'First name?'],
        ['task', 'Second name?'],
        ['request', 'What is your name?'],
      ]);
    });

    it('cancels a task', async () => {
      const execution = await session.callTool('slow_compute', { seconds: 60, label: 'never' });
      await execution.cancel();
      assert.equal((await execution.result()).status, 'cancelled');
    });

    it('resumes a task in another session', async () => {
      const execution = await session.callTool('slow_compute', { seconds: 1, label: 'it' });
      let reference;
      await execution.handoff(given => void (reference = given));
      const { outcome } = await (await (await connect()).resumeTask(reference)).settle();
      assert.equal(resultFromTaskOutcome(outcome).content[0].text, 'it took 1 s');
    });

    it('does not know the task of somebody else', async () => {
      const controller = session.task('no-task');
      await assert.rejects(controller.snapshot(), { code: -32602 });
    });

    it('gets notifications that the schema accepts', async () => {
      const execution = await session.callTool('slow_compute', { seconds: 0.2, label: 'it' });
      const { taskId } = execution.handle;
      const params = withTaskCapabilityV2(contributeTaskFilterV2({}, [taskId]));
      Object.assign(params._meta, {
        'io.modelcontextprotocol/protocolVersion': VERSION,
        'io.modelcontextprotocol/clientInfo': INFO,
      });
      const response = await post(server.url, { method: 'subscriptions/listen', params });
      const statuses = [];
      for await (const message of messagesOf(response)) {
        if (message.method !== 'notifications/tasks') {
          assert.deepEqual(readAcceptedTaskIdsV2(message.params), [taskId]);
          continue;
        }
        const { status } = TaskStatusNotificationV2Schema.parse(message).params;
        statuses.push(status);
        if (status === 'completed') break;
      }
      assert.deepEqual([...new Set(statuses)], ['working', 'completed']);
      await execution.close();
    });

    it('has judged the answers of all methods', () => {
      assert.deepEqual([...judged].sort(), ['tasks/cancel', 'tasks/get', 'tasks/update', 'tools/call']);
    });
  });
}
