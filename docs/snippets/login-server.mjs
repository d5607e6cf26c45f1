import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';

const { PORT = 4000 } = process.env;
const { privateKey } = await generateKeyPair('RS256', { extractable: true });
const provider = new Provider(`http://localhost:${PORT}`, {
  jwks: { keys: [await exportJWK(privateKey)] },
  clients: [
    {
      client_id: 'me',
      client_secret: 'not-for-production',
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
    },
  ],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, resource) => ({
        audience: resource,
        scope: 'orders:read orders:write',
        accessTokenFormat: 'jwt', // the default token is opaque
      }),
    },
  },
});
provider.listen(PORT, () => console.log(`Logins at ${provider.issuer}`));
