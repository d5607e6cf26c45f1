import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Resource, Tool } from 'nestjs-mcp';
import { App, McpAppsModule } from 'nestjs-mcp/apps';
import { viewPolicy } from '../../lib/explorer/view-frame.js';
import { platforms } from '../fixtures/matrix.js';
import { startExplored, type ExploredApp } from './explored-app.js';

const API = '/mcp-explorer/api';
const CALLER = { server: 'test', caller: { kind: 'anonymous' } };
/** Longer than what the explorer shows of a result. */
const HTML = `<!doctype html><title>Board</title><p>${'x'.repeat(100_000)}</p>`;
const CSP = { connectDomains: ['https://api.example.com'] };

@App({ uri: 'ui://board', html: HTML, csp: CSP })
@Injectable()
class Board {
  @Tool({ ui: 'ui://board', annotations: { readOnlyHint: true } })
  show(@Ctx() ctx: McpContext) {
    return String(ctx.supportsUi);
  }

  @Resource({ uri: 'ui://blob', mimeType: 'text/html;profile=mcp-app' })
  blob() {
    return { contents: [{ uri: 'ui://blob', mimeType: 'text/html;profile=mcp-app', blob: btoa('<p>') }] };
  }

  @Resource({ uri: 'ui://text' })
  text() {
    return 'text';
  }
}

const policyOf = (csp: string | null) =>
  Object.fromEntries(
    viewPolicy(csp)
      .split('; ')
      .map(directive => /^(\S+) (.*)$/.exec(directive)!.slice(1)),
  ) as Record<string, string>;

describe.each(platforms())('the views of the explorer on %s', platform => {
  let app: ExploredApp;
  beforeAll(async () => {
    app = await startExplored([Board], { platform, module: { imports: [McpAppsModule.forRoot()] } });
  });
  afterAll(() => app.close());

  it('are read whole, with their policy', async () => {
    const { json } = await app.post(`${API}/view`, { ...CALLER, uri: 'ui://board' });
    expect(json).toEqual({ html: HTML, csp: CSP });
    const blob = await app.post(`${API}/view`, { ...CALLER, uri: 'ui://blob' });
    expect(blob.json).toEqual({ html: '<p>', csp: {} });
  });

  it('are read in the session of an older revision, which ends', async () => {
    const { json } = await app.post(`${API}/view`, { ...CALLER, revision: '2025-11-25', uri: 'ui://board' });
    expect(json).toEqual({ html: HTML, csp: CSP });
    const live = await app.get(`${API}/live`);
    expect(live.json.servers[0].lists.sessions.rows).toEqual([]);
  });

  it.each([
    ['of another type', 'ui://text', 502, /is not of the type text\/html;profile=mcp-app/],
    ['that does not exist', 'ui://none', 502, /The view ui:\/\/none cannot be shown: .*not found/i],
    ['without a URI', undefined, 400, /A view has a "uri"/],
  ])('are not read %s', async (_, uri, status, message) => {
    const answer = await app.post(`${API}/view`, { ...CALLER, uri });
    expect([answer.status, answer.json.error]).toEqual([status, expect.stringMatching(message)]);
  });

  it.each(['2026-07-28', '2025-11-25'])(
    'are for tools, which learn that the caller of %s shows them',
    async revision => {
      const call = { ...CALLER, revision, method: 'tools/call', params: { name: 'show' } };
      const { json } = await app.post(`${API}/call`, call);
      expect(json.result.value.content).toEqual([{ type: 'text', text: 'true' }]);
    },
  );

  it('are framed by the explorer alone, in an opaque origin', async () => {
    const csp = encodeURIComponent(JSON.stringify(CSP));
    const { status, headers, text } = await app.get(`/mcp-explorer/view.html?csp=${csp}`);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toBe(viewPolicy(JSON.stringify(CSP)));
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
    expect(text).toContain('<!doctype html>');
    const page = await app.get('/mcp-explorer/index.html');
    expect(page.headers['content-security-policy']).toContain("frame-src 'self'");
  });
});

describe('the policy of a view', () => {
  it('is the default of the specification without the origin of the explorer', () => {
    for (const csp of [null, '{}', 'no JSON', '[]', '{"connectDomains":"https://a.example"}']) {
      expect(policyOf(csp)).toEqual({
        'default-src': "'none'",
        'script-src': "'unsafe-inline'",
        'style-src': "'unsafe-inline'",
        'img-src': 'data:',
        'media-src': 'data:',
        'font-src': "'none'",
        'connect-src': "'none'",
        'frame-src': "'none'",
        'base-uri': "'none'",
        'object-src': "'none'",
        'form-action': "'none'",
        'frame-ancestors': "'self'",
        sandbox: 'allow-scripts',
      });
    }
  });

  it.each([
    ['connectDomains', ['connect-src']],
    ['resourceDomains', ['script-src', 'style-src', 'img-src', 'media-src', 'font-src']],
    ['frameDomains', ['frame-src']],
    ['baseUriDomains', ['base-uri']],
  ])('%s admits origins in %j alone', (option, directives) => {
    const source = 'https://*.example.com:8443';
    const policy = policyOf(JSON.stringify({ [option]: [source] }));
    const admitting = Object.keys(policy).filter(directive => policy[directive].includes(source));
    expect(admitting.sort()).toEqual([...directives].sort());
  });

  it.each(["'unsafe-eval'", "'self'", 'https://a.example; sandbox allow-same-origin', 'a\r\nb: c', 'a,b', 5])(
    'leaves out %j',
    source => {
      expect(viewPolicy(JSON.stringify({ resourceDomains: [source] }))).toBe(viewPolicy(null));
    },
  );
});
