import type { Client } from '@modelcontextprotocol/client';
import { check, connect, drive, REVISIONS, startSample, textOf } from '../support/drive.js';

interface OpenApi {
  readonly paths: Record<string, unknown>;
}

/** A value, or the message of the refusal. */
type Outcome = unknown;

drive(async () => {
  for (const revision of REVISIONS) {
    console.log(revision);
    const sample = await startSample('63-existing-application');
    const base = sample.url.replace('/mcp', '');

    const rest = async (token: string, method: string, path: string, body?: object): Promise<Outcome> => {
      const response = await fetch(`${base}/api/orders${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const value = (await response.json()) as { message?: string | string[] };
      return response.ok ? value : [value.message].flat().join('; ');
    };
    const tool = async (client: Client, name: string, args: Record<string, unknown>): Promise<Outcome> => {
      try {
        const result = await client.callTool({ name, arguments: args });
        return result.isError ? textOf(result) : (JSON.parse(textOf(result)) as unknown);
      } catch (error) {
        return (error as Error).message.replace(/^MCP error -?\d+: /, '');
      }
    };

    const { paths } = (await (await fetch(`${base}/docs-json`)).json()) as OpenApi;
    check('Swagger has the routes', Object.keys(paths), [
      '/api/orders',
      '/api/orders/{id}',
      '/api/orders/{id}/cancel',
    ]);

    const ada = await connect(sample.url, revision, { token: 'token-of-ada' });
    const bob = await connect(sample.url, revision, { token: 'token-of-bob' });
    const nobody = await connect(sample.url, revision);

    const { tools } = await ada.listTools();
    check('the tools', Object.fromEntries(tools.map(({ name, description }) => [name, description])), {
      orders_cancel: 'Cancel one of your orders',
      orders_create: 'Place an order',
      orders_find: 'Read one of your orders',
      orders_list: 'List your orders',
    });
    const product = tools.find(({ name }) => name === 'orders_create')?.inputSchema.properties?.product;
    check('an argument', product, {
      type: 'string',
      minLength: 2,
      maxLength: 50,
      description: 'What to order',
      examples: ['umbrella'],
    });

    const order = { id: 1, product: 'umbrella', owner: 'ada', state: 'open', reason: '' };
    await tool(ada, 'orders_create', { product: 'umbrella' });
    check('an order by MCP, read by REST', await rest('token-of-ada', 'GET', '/1'), order);
    check('and by MCP', await tool(ada, 'orders_find', { id: 1 }), order);
    await rest('token-of-bob', 'POST', '', { product: 'hat' });
    check('an order by REST, read by MCP', await tool(bob, 'orders_list', { state: 'open' }), [
      { id: 2, product: 'hat', owner: 'bob', state: 'open', reason: '' },
    ]);

    const refusals: [string, Outcome, Outcome][] = [
      ['without a token', await rest('', 'GET', ''), await tool(nobody, 'orders_list', {})],
      [
        'an order of somebody else',
        await rest('token-of-bob', 'POST', '/1/cancel', { reason: 'Mine' }),
        await tool(bob, 'orders_cancel', { id: 1, reason: 'Mine' }),
      ],
      [
        'wrong input',
        await rest('token-of-ada', 'POST', '/1/cancel', { reason: 'x' }),
        await tool(ada, 'orders_cancel', { id: 1, reason: 'x' }),
      ],
    ];
    for (const [step, byRest, byMcp] of refusals) check(step, byMcp, byRest);

    const cancelled = await tool(ada, 'orders_cancel', { id: 1, reason: 'Ordered twice' });
    check('cancelled', cancelled, { ...order, state: 'cancelled', reason: 'Ordered twice' });
    await Promise.all([ada, bob, nobody].map(client => client.close()));
    await sample.stop();
  }
});
