import { InMemoryTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { LogSpy } from '../../test/fixtures/log-spy.js';
import { startClients, type ClientApp } from '../../test/client/fixtures.js';

type Schema = Readonly<Record<string, unknown>>;

let clients: ClientApp;
let logs: LogSpy;

/** A client of a server with a tool for each schema, which answers with its arguments. */
async function connect(schemas: Readonly<Record<string, Schema>>) {
  const server = new Server({ name: 'shop', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(schemas).map(([name, outputSchema]) => ({
      name,
      inputSchema: { type: 'object' as const },
      outputSchema: outputSchema as { type: 'object' },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [],
    structuredContent: params.arguments ?? {},
  }));
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  clients = await startClients([{ name: 'shop', transport: () => near, era: 'legacy' }]);
  clients.app.useLogger((logs = new LogSpy()));
  const client = clients.client();
  await client.listTools();
  return (structured: Record<string, unknown>, name = 'tool') =>
    client.callTool({ name, arguments: structured });
}

afterEach(() => clients.close());

const object = (properties: Record<string, unknown>, rest: object = {}) => ({
  type: 'object',
  properties,
  ...rest,
});

it('a pattern of a server takes linear time', async () => {
  const call = await connect({ tool: object({ text: { type: 'string', pattern: '^(a+)+$' } }) });
  await expect(call({ text: 'a'.repeat(100_000) })).resolves.toBeDefined();
  await expect(call({ text: `${'a'.repeat(100_000)}!` })).rejects.toThrow(
    /must match pattern "\^\(a\+\)\+\$"/,
  );
});

it('so does one in patternProperties', async () => {
  const call = await connect({
    tool: object({}, { patternProperties: { '^(a+)+$': { type: 'number' } }, additionalProperties: false }),
  });
  await expect(call({ aaa: 1 })).resolves.toBeDefined();
  await expect(call({ [`${'a'.repeat(100_000)}!`]: 1 })).rejects.toThrow(/additional properties/);
});

it('so does the format "url"', async () => {
  const call = await connect({ tool: object({ link: { type: 'string', format: 'url' } }) });
  await expect(call({ link: 'https://example.com/a?b=c' })).resolves.toBeDefined();
  await expect(call({ link: `http://${':'.repeat(100_000)}!` })).rejects.toThrow(/must match format "url"/);
});

it('many patterns on a long text together take bounded time', async () => {
  const patterns = Array.from({ length: 500 }, (_, i) => ({ pattern: `[ab]*a[ab]{900}z${i}$|^b` }));
  const call = await connect({ tool: object({ text: { type: 'string', allOf: patterns } }) });
  await expect(call({ text: `z${'abba'.repeat(50_000)}` })).resolves.toBeDefined();
  expect(logs.warnings).toEqual([expect.stringContaining('it would take too long')]);
});

it('a property that linear time does not know is skipped, too', async () => {
  const call = await connect({
    tool: object({ text: { type: 'string', pattern: '^\\p{Script_Extensions=Greek}$' } }),
  });
  await expect(call({ text: 'a' })).resolves.toBeDefined();
  await expect(call({ text: 5 })).rejects.toThrow(/text must be string/);
  expect(logs.warnings).toHaveLength(1);
});

it('a pattern that linear time cannot express is skipped, with one warning, and the rest is checked', async () => {
  const duration = z.toJSONSchema(z.object({ wait: z.iso.duration(), retries: z.number() }));
  const call = await connect({
    tool: duration,
    other: object({ text: { type: 'string', pattern: '(?=a)' } }),
  });
  await expect(call({ wait: 'P1D', retries: 1 })).resolves.toBeDefined();
  await expect(call({ wait: 'P1D', retries: 'x' })).rejects.toThrow(/retries must be number/);
  await expect(call({ text: 'b' }, 'other')).resolves.toBeDefined();
  expect(logs.warnings).toEqual([expect.stringContaining('it looks ahead or behind')]);
});

it('a key of patternProperties that cannot be expressed leaves the schema unchecked', async () => {
  const call = await connect({
    tool: object({}, { patternProperties: { '^(?!x-)': { type: 'number' } }, additionalProperties: false }),
  });
  await expect(call({ 'x-a': 'text' })).resolves.toBeDefined();
  expect(logs.warnings).toHaveLength(1);
});

it.each([
  'https://json-schema.org/draft/2020-12/schema',
  'https://json-schema.org/draft/2019-09/schema',
  'http://json-schema.org/draft-07/schema#',
  'http://json-schema.org/draft-06/schema#',
])('an output schema may be in %s', async $schema => {
  const call = await connect({ tool: object({ n: { type: 'number' } }, { $schema }) });
  await expect(call({ n: 1 })).resolves.toBeDefined();
  await expect(call({ n: 'x' })).rejects.toThrow(/n must be number/);
});

it.each([
  [
    'in an unknown dialect',
    { $schema: 'https://example.com/schema' },
    /example\.com\/schema" is not supported/,
  ],
  ['that is asynchronous', { $async: true }, /\$async` schemas are not supported/],
  ['with a pattern that is none', { properties: { text: { pattern: '(' } } }, /Invalid regular expression/],
])('a tool with an output schema %s cannot be called', async (_what, rest, message) => {
  const call = await connect({ tool: object({}, rest) });
  await expect(call({ text: 'a' })).rejects.toThrow(message);
});
