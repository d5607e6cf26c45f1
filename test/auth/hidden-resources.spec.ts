import { Injectable, type ExecutionContext } from '@nestjs/common';
import {
  Completion,
  McpExecutionContext,
  Prompt,
  Resource,
  ResourceTemplate,
  UriParams,
  Visible,
} from 'nestjs-mcp';
import { AllowAnonymous, McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { cells, startApp, type TestApp } from '../fixtures/matrix.js';
import { bearer, trusting } from './callers.js';
import { ask, openSession, type RawReply } from './raw-caller.js';

const graceOnly = {
  canActivate: (context: ExecutionContext) =>
    McpExecutionContext.create(context).getContext().authInfo?.extra?.['sub'] === 'grace',
};

/** Each hidden handler answers a URI that another one would answer, too. */
@Injectable()
class Files {
  @Visible(graceOnly)
  @ResourceTemplate({ uriTemplate: 'doc://{id}' })
  hiddenTemplate() {
    return 'hidden';
  }

  @AllowAnonymous()
  @ResourceTemplate({ uriTemplate: 'doc://{+path}' })
  template(@UriParams() { path }: Record<string, string>) {
    return `path ${path}`;
  }

  @Visible(graceOnly)
  @Resource({ uri: 'file://a/secret' })
  hiddenResource() {
    return 'hidden';
  }

  @AllowAnonymous()
  @ResourceTemplate({ uriTemplate: 'file://a/{name}' })
  file(@UriParams() { name }: Record<string, string>) {
    return `name ${name}`;
  }
}

const textOf = ({ result }: RawReply) => (result?.['contents'] as { text: string }[] | undefined)?.[0].text;

describe.each(cells())('a hidden resource on $platform, $era', ({ platform, era }) => {
  let app: TestApp;
  afterEach(() => app.close());

  it('leaves its URI to another one that matches', async () => {
    app = await startApp([Files], {
      platform,
      module: {
        imports: [
          McpAuthModule.forRoot({ authorizationServers: ['https://login.example.com'], verifier: trusting }),
        ],
      },
    });
    const url = await app.url();
    for (const [headers, texts] of [
      [{}, ['path 5', 'name secret']],
      [bearer('ada'), ['path 5', 'name secret']],
      [bearer('grace'), ['hidden', 'hidden']],
    ] as const) {
      const session = era === 'legacy' ? await openSession(url, headers) : undefined;
      const read = (uri: string) => ask({ url, era, headers, session }, 'resources/read', { uri });
      expect([textOf(await read('doc://5')), textOf(await read('file://a/secret'))]).toEqual(texts);
      if (session === undefined) continue;
      const subscribed = await ask({ url, era, headers, session }, 'resources/subscribe', { uri: 'doc://5' });
      expect(subscribed.result).toEqual({});
    }
  });
});

it('the scopes of what completes a hidden prompt stay unknown', async () => {
  @RequireScopes('orders:x')
  @Injectable()
  class Prompts {
    @Visible(graceOnly)
    @Prompt()
    hidden() {
      return 'hidden';
    }

    @Completion({ prompt: 'hidden', argument: 'text' })
    complete() {
      return ['a'];
    }
  }
  const app = await startApp([Prompts], {
    module: {
      imports: [
        McpAuthModule.forRoot({
          authorizationServers: ['https://login.example.com'],
          verifier: trusting,
          scopesSupported: ['base'],
        }),
      ],
    },
  });
  try {
    const url = await app.url();
    const complete = (name: string) =>
      ask({ url, era: 'modern' }, 'completion/complete', {
        ref: { type: 'ref/prompt', name },
        argument: { name: 'text', value: '' },
      });
    const [hidden, unknown] = [await complete('hidden'), await complete('unknown')];
    expect(hidden.status).toBe(401);
    expect(hidden).toEqual(unknown);
  } finally {
    await app.close();
  }
});
