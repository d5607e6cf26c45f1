import { generateKeyPairSync, sign } from 'node:crypto';

export const ISSUER = 'https://login.example.com';
export const AUDIENCE = 'https://shop.example.com/mcp';

const KEY_ID = 'bench';
const DAY_S = 86_400;

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

function signed(claims: object): string {
  const content = `${encode({ alg: 'RS256', typ: 'at+jwt', kid: KEY_ID })}.${encode(claims)}`;
  return `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`;
}

const now = Math.floor(Date.now() / 1000);

/** An access token of ordinary size (RFC 9068). */
export const TOKEN = signed({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'a1b2c3d4-0000-4000-8000-00000000ada0',
  client_id: 'desk',
  scope: 'openid orders:read orders:write',
  jti: 'f1e2d3c4-0000-4000-8000-000000000001',
  iat: now,
  exp: now + DAY_S,
});

/** The public key, as an issuer publishes it. */
export const JWKS = {
  keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' }],
};
