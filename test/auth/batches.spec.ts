import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { AllowAnonymous, McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { platforms, startApp, type TestApp } from '../fixtures/matrix.js';
import { bearer, trusting } from './callers.js';
import { openSession } from './raw-caller.js';

@Injectable()
class Tools {
  readonly ran: string[] = [];

  @AllowAnonymous()
  @Tool()
  async hours(@Ctx() ctx: McpContext) {
    this.ran.push('hours');
    await ctx.reportProgress(1);
    return 'always';
  }

  @RequireScopes('write')
  @Tool()
  write() {
    this.ran.push('write');
    return 'written';
  }
}

describe.each(platforms())('a batch on %s', platform => {
  describe.each(['sessions', 'stateless'] as const)('with legacy: %s', legacy => {
    let app: TestApp;
    afterEach(() => app.close());

    it.each([
      ['a caller without the scope', bearer('ada'), 403, []],
      ['an anonymous caller', {}, 401, []],
      ['a caller with the scope', bearer('ada', 'write'), 200, ['hours', 'write']],
    ])('of %s runs as a whole or not at all', async (_, headers, status, ran) => {
      app = await startApp([Tools], {
        platform,
        mcp: { legacy },
        module: {
          imports: [
            McpAuthModule.forRoot({ authorizationServers: ['https://login.example'], verifier: trusting }),
          ],
        },
      });
      const url = await app.url();
      const session = legacy === 'sessions' ? await openSession(url, headers) : undefined;
      const call = (id: number, name: string) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name, _meta: { progressToken: 'p' } },
      });
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session !== undefined && { 'mcp-session-id': session }),
          ...headers,
        },
        body: JSON.stringify([call(1, 'hours'), call(2, 'write')]),
      });
      await response.text();
      expect(response.status).toBe(status);
      expect(app.app.get(Tools).ran.sort()).toEqual(ran);
      const challenge = response.headers.get('www-authenticate');
      expect(challenge).toEqual(status === 200 ? null : expect.stringContaining('scope="write"'));
    });
  });
});
