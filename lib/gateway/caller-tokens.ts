import type { AuthInfo } from '@modelcontextprotocol/server';
import { AuthChallenge } from '../exceptions/auth-challenge.js';
import { McpException } from '../exceptions/mcp.exception.js';
import { unlessAborted } from '../util/abort.js';
import { reasonFor } from './backend-log.js';
import type { GatewayBackend } from './gateway-options.js';

/** A token of RFC 6750, 2.1. Other texts could end the header. */
const TOKEN = /^[\w\-.~+/]+=*$/;

/** The tokens of callers for one backend, by the `tokenFor` of its options. */
export class CallerTokens {
  /** A caller is the same object while its verified token is cached. */
  private readonly known = new WeakMap<AuthInfo, Promise<string>>();

  /**
   * @param timeoutMs how long `tokenFor` may take
   * @param onFailure gets a text without the caller's token
   */
  constructor(
    private readonly tokenFor: NonNullable<GatewayBackend['tokenFor']>,
    private readonly timeoutMs: number,
    private readonly onFailure: (reason: string) => void,
  ) {}

  /** @throws AuthChallenge (503) if `tokenFor` fails; the McpException that `tokenFor` throws */
  async of(caller: AuthInfo | undefined): Promise<string> {
    const known = caller && this.known.get(caller);
    if (known) return known;
    const token = this.exchange(caller);
    if (caller) {
      this.known.set(caller, token);
      token.catch(() => this.known.delete(caller));
    }
    return token;
  }

  private async exchange(caller: AuthInfo | undefined): Promise<string> {
    try {
      const made = Promise.resolve().then(() => this.tokenFor(caller));
      const token: unknown = await unlessAborted(made, AbortSignal.timeout(this.timeoutMs));
      if (typeof token !== 'string' || !TOKEN.test(token)) throw new Error('it returned something else');
      return token;
    } catch (error) {
      if (error instanceof McpException) throw error;
      const reason = reasonFor(error);
      this.onFailure(caller?.token ? reason.replaceAll(caller.token, '[token]') : reason);
      throw new AuthChallenge(
        503,
        'The gateway has no access token for the server behind it now; try again later',
        { 'retry-after': '5' },
      );
    }
  }
}
