import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from '@modelcontextprotocol/client';

/** How a desktop application logs its user in, with PKCE. Its tokens are for one server. */
export class Desk implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1/callback';
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: 'Desk',
    redirect_uris: [this.redirectUrl],
    token_endpoint_auth_method: 'none',
  };
  private saved?: OAuthTokens;
  private discovered?: OAuthDiscoveryState;
  private verifier = '';
  private browser = new Browser();
  /** Where the login ended, with the code. */
  private ended?: Promise<URLSearchParams>;

  clientInformation(): OAuthClientInformationMixed {
    return { client_id: 'desk' };
  }

  tokens(): OAuthTokens | undefined {
    return this.saved;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.saved = tokens;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.discovered = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovered;
  }

  redirectToAuthorization(url: URL): void {
    this.ended = this.browser.follow(url, this.redirectUrl);
  }

  /** What the browser came back with. */
  async callback(): Promise<URLSearchParams> {
    if (!this.ended) throw new Error('Nobody has logged in');
    return this.ended;
  }
}

/** As much of a browser as a login needs: redirects and cookies. */
class Browser {
  private readonly cookies = new Map<string, string>();

  /** @returns the query of the page that the login ends at */
  async follow(start: URL, end: string): Promise<URLSearchParams> {
    let url = start;
    while (!url.href.startsWith(end)) {
      const cookie = [...this.cookies].map(pair => pair.join('=')).join('; ');
      const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
        if (value === '') this.cookies.delete(name);
        else this.cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null)
        throw new Error(`The login stopped at HTTP ${response.status}: ${await response.text()}`);
      url = new URL(location, url);
    }
    return url.searchParams;
  }
}
