import type { AuthInfo } from '@modelcontextprotocol/server';
import { InvalidTokenError, type TokenVerifier } from 'nestjs-mcp/auth';

/** A token that says by itself whose it is: `ada`, or `ada:orders:read,orders:write`. */
export const tokenOf = (subject: string, ...scopes: string[]): string =>
  Buffer.from([subject, ...scopes].join(' ')).toString('base64url');

export const bearer = (subject: string, ...scopes: string[]): { authorization: string } => ({
  authorization: `Bearer ${tokenOf(subject, ...scopes)}`,
});

/** Takes every token of `tokenOf`. */
export const trusting: TokenVerifier = {
  async verifyAccessToken(token): Promise<AuthInfo> {
    const [sub, ...scopes] = Buffer.from(token, 'base64url').toString().split(' ');
    if (!/^[a-z]+$/.test(sub)) throw new InvalidTokenError('It says nothing');
    return { token, clientId: 'desk', scopes, expiresAt: Date.now() / 1000 + 300, extra: { sub } };
  },
};
