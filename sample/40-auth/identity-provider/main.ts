// The identity provider: any that speaks OAuth 2.1 and takes the `resource` parameter (RFC 8707) will do. This one logs in
// whoever comes as Ada, and lets applications do what they ask for.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';

const SCOPES = 'orders:read orders:write';

async function bootstrap() {
  const server = createServer();
  server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const provider = new Provider(issuer, {
    jwks: { keys: [await exportJWK(privateKey)] },
    cookies: { keys: ['a key that is not for production'] },
    scopes: SCOPES.split(' '),
    clients: [
      {
        client_id: 'desk',
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/callback'],
        token_endpoint_auth_method: 'none',
      },
      {
        client_id: 'night-job',
        client_secret: 'a secret that is not for production',
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
      },
    ],
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_context, { uid }) => `/login/${uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, audience) => ({
          audience,
          scope: SCOPES,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
        }),
      },
    },
  });

  /** A real one shows a page, and asks. */
  async function logIn(request: IncomingMessage, response: ServerResponse) {
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      return provider.interactionFinished(request, response, { login: { accountId: 'ada' } });
    }
    const grant =
      (grantId && (await provider.Grant.find(grantId))) ||
      new provider.Grant({ accountId: session!.accountId, clientId: params.client_id as string });
    const wanted = prompt.details.missingResourceScopes as Record<string, string[]> | undefined;
    for (const [resource, scopes] of Object.entries(wanted ?? {})) grant.addResourceScope(resource, scopes);
    grant.addOIDCScope((prompt.details.missingOIDCScope as string[] | undefined)?.join(' ') ?? '');
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }

  const others = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const answered = request.url?.startsWith('/login/')
      ? logIn(request, response)
      : others(request, response);
    answered.catch((error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    });
  });
  console.log(`Identity provider: ${issuer}`);
}

void bootstrap();
