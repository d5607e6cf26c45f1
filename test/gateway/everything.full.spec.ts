import type { Client } from '@modelcontextprotocol/client';
import {
  connect,
  connectStdio,
  ERAS,
  EVERYTHING,
  outcomeOf,
  startGateway,
  type ClientSetup,
  type Running,
} from './support.js';

const elicited = { action: 'accept' as const, content: { name: 'Ada' } };
const sampled = {
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'sampled' },
  model: 'm',
};
const roots = { roots: [{ uri: 'file:///work', name: 'work' }] };

const setup: ClientSetup = {
  capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
  prepare: client => {
    client.setRequestHandler('elicitation/create', () => elicited);
    client.setRequestHandler('sampling/createMessage', () => sampled);
    client.setRequestHandler('roots/list', () => roots);
  },
};

/** Everything that is asked, directly and through the gateway, and compared as JSON. */
const STEPS: Record<string, (client: Client) => Promise<unknown>> = {
  'prompts/list': client => client.listPrompts(),
  'resources/list': client => client.listResources(),
  'resources/templates/list': client => client.listResourceTemplates(),
  echo: client => client.callTool({ name: 'echo', arguments: { message: 'hi' } }),
  'an echo without its argument': client => client.callTool({ name: 'echo', arguments: {} }),
  'an unknown tool': client => client.callTool({ name: 'nothing' }),
  sum: client => client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } }),
  'structured content': client =>
    client.callTool({ name: 'get-structured-content', arguments: { location: 'Chicago' } }),
  'an image': client => client.callTool({ name: 'get-tiny-image' }),
  annotations: client =>
    client.callTool({
      name: 'get-annotated-message',
      arguments: { messageType: 'error', includeImage: true },
    }),
  'resource links': client => client.callTool({ name: 'get-resource-links', arguments: { count: 2 } }),
  'a resource reference': async client => {
    const result = await client.callTool({
      name: 'get-resource-reference',
      arguments: { resourceType: 'Text', resourceId: 1 },
    });
    return JSON.parse(JSON.stringify(result).replace(/\d+:\d+:\d+ [AP]M/g, 'now'));
  },
  'a prompt': client => client.getPrompt({ name: 'simple-prompt' }),
  'a prompt with arguments': client => client.getPrompt({ name: 'args-prompt', arguments: { city: 'Bern' } }),
  'an unknown prompt': client => client.getPrompt({ name: 'nothing' }),
  'an unknown resource': client => client.readResource({ uri: 'demo://nothing' }),
  'a document': client => client.readResource({ uri: 'demo://resource/static/document/architecture.md' }),
  completions: client =>
    client.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'E' },
    }),
  'an elicitation': client => client.callTool({ name: 'trigger-elicitation-request' }),
  sampling: client =>
    client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'Say hi', maxTokens: 10 } }),
};

describe.each(ERAS)('the reference server behind a gateway, for a %s client', era => {
  let gateway: Running;
  let direct: Client;
  let through: Client;

  beforeAll(async () => {
    gateway = await startGateway({ backend: EVERYTHING });
    [direct, through] = await Promise.all([
      connectStdio(EVERYTHING, 'legacy', setup),
      connect(gateway.url, era, setup),
    ]);
  });
  afterAll(async () => {
    await Promise.all([direct?.close(), through?.close()]);
    await gateway?.app.close();
  });

  it('shows what it is and can do', () => {
    expect(through.getServerVersion()).toEqual(direct.getServerVersion());
    expect(through.getInstructions()).toEqual(direct.getInstructions());
    const { tasks: _, ...capabilities } = direct.getServerCapabilities() ?? {};
    expect(through.getServerCapabilities()).toEqual(capabilities);
  });

  it('lists all tools but one, which runs only as a task of 2025-11-25', async () => {
    const { tools, ...rest } = await direct.listTools();
    const shown = tools.filter(({ name }) => name !== 'simulate-research-query');
    expect(shown).toHaveLength(tools.length - 1);
    expect(withoutRevision(await through.listTools())).toEqual(withoutRevision({ ...rest, tools: shown }));
  });

  it.each(Object.keys(STEPS))('gives the same for %s', async step => {
    const expected = await outcomeOf(STEPS[step](direct));
    expect(withoutRevision(await outcomeOf(STEPS[step](through)))).toEqual(withoutRevision(expected));
  });

  it('reports progress under the token of the client', async () => {
    const seen: number[] = [];
    const result = await through.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    expect(seen).toEqual([1, 2, 3]);
    expect(JSON.stringify(result)).toContain('completed');
  });
});

/** Less what only one of the revisions knows. */
function withoutRevision(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      ['ttlMs', 'cacheScope', 'execution'].includes(key) ||
      (key === '_meta' && JSON.stringify(member).includes('serverInfo'))
        ? undefined
        : member,
    ),
  );
}
