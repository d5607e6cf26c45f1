import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import { check, drive, errorOf, REVISIONS, startSample, textOf, type Revision } from '../support/drive.js';
import { freePort } from '../support/free-port.js';
import { Desk } from './desk.js';

drive(async () => {
  const identityProvider = await startSample('40-auth/identity-provider');
  const issuer = identityProvider.url;
  for (const revision of REVISIONS) {
    const port = await freePort();
    const resource = `http://127.0.0.1:${port}/mcp`;
    const sample = await startSample('40-auth', { PORT: String(port), ISSUER: issuer, RESOURCE: resource });
    console.log(revision);

    const desk = new Desk();
    const { client, transport } = await connect(sample.url, revision, desk);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    // Clients see what a login would open, so that they can ask for it.
    const reachable = ['openingHours', 'listOrders', 'placeOrder'];
    check('tools without a token', await names(), reachable);
    check('openingHours', textOf(await client.callTool({ name: 'openingHours' })), 'from 9 to 5');

    check('listOrders starts a login', await hasToLogIn(client.callTool({ name: 'listOrders' })), true);
    await transport.finishAuth(await desk.callback());
    check('listOrders', textOf(await client.callTool({ name: 'listOrders' })), 'ada sees 1 umbrella');
    check('the scopes of the token', desk.tokens()?.scope, 'orders:read');
    check('tools with the token', await names(), reachable);

    const order = { name: 'placeOrder', arguments: { what: '2 hats' } };
    check('placeOrder needs another scope', await hasToLogIn(client.callTool(order)), true);
    await transport.finishAuth(await desk.callback());
    check('placeOrder', textOf(await client.callTool(order)), 'Ordered 2 hats');
    check('the scopes of the token', desk.tokens()?.scope, 'orders:read orders:write');
    check('purge is hidden', (await errorOf(client.callTool({ name: 'purge' }))).code, -32602);

    const job = await connect(
      sample.url,
      revision,
      new ClientCredentialsProvider({
        clientId: 'night-job',
        clientSecret: 'a secret that is not for production',
        scope: 'orders:write',
        expectedIssuer: issuer,
      }),
    );
    await job.client.callTool({ name: 'listOrders' });
    check('purge as a job', textOf(await job.client.callTool({ name: 'purge' })), 'Purged');

    await Promise.all([client.close(), job.client.close()]);
    await sample.stop();
  }
  await identityProvider.stop();
});

async function connect(url: string, revision: Revision, authProvider: OAuthClientProvider) {
  const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy';
  const client = new Client({ name: 'desk', version: '1.0.0' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  await client.connect(transport);
  return { client, transport };
}

const hasToLogIn = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => false,
    (error: unknown) => error instanceof UnauthorizedError,
  );
