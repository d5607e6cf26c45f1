import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';

export const RESOURCE = 'https://shop.example/mcp';

/** An issuer of tokens, with a JWKS endpoint on the loopback interface. */
export class Issuer {
  /** How often its keys were fetched. */
  fetched = 0;
  /** What its endpoint does. */
  mode: 'answers' | 'fails' | 'hangs' = 'answers';

  private constructor(
    readonly url: string,
    private readonly server: Server,
    readonly privateKey: CryptoKey,
    readonly publicKey: CryptoKey,
    /** Its JWKS. */
    readonly keys: object[],
  ) {}

  static async start(): Promise<Issuer> {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const server = createServer((_request, response) => {
      issuer.fetched += 1;
      if (issuer.mode === 'hangs') return;
      if (issuer.mode === 'fails') response.writeHead(500).end();
      else response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: issuer.keys }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
    const issuer = new Issuer(url, server, privateKey, publicKey, [jwk]);
    return issuer;
  }

  get options(): { issuer: string; jwksUri: string } {
    return { issuer: this.url, jwksUri: `${this.url}/jwks` };
  }

  /** A token that is good for five minutes, unless its claims say otherwise; `undefined` takes a claim away. */
  async token(
    claims: JWTPayload & Record<string, unknown> = {},
    kid = 'one',
    header: { typ?: string } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({
      iss: this.url,
      aud: RESOURCE,
      sub: 'ada',
      client_id: 'desk',
      iat: now,
      exp: now + 300,
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', kid, ...header })
      .sign(this.privateKey);
  }

  /** Its public key, which everybody knows, as a text. */
  publicText(): Promise<string> {
    return exportSPKI(this.publicKey);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
