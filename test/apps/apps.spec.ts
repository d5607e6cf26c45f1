import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Injectable,
  Logger,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { Ctx, McpContext, Resource, Tool, Visible } from 'nestjs-mcp';
import { App, McpAppsModule, type AppOptions } from 'nestjs-mcp/apps';
import { platforms, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const UI = 'io.modelcontextprotocol/ui';
const MIME = 'text/html;profile=mcp-app';
const BOARD = 'ui://orders/board';
const html = (text: string) => `<!doctype html><title>${text}</title>`;

const folder = mkdtempSync(join(tmpdir(), 'apps-'));
const file = join(folder, 'board.html');
writeFileSync(file, html('Board'));
afterAll(() => rmSync(folder, { recursive: true }));

@App({
  uri: BOARD,
  file,
  csp: { connectDomains: ['https://api.example.com'] },
  permissions: ['camera'],
  prefersBorder: true,
})
@Injectable()
class OrdersBoard {
  @Tool({ ui: BOARD })
  show(@Ctx() ctx: McpContext) {
    return ctx.supportsUi ? 'See the board' : 'Three orders are open';
  }

  @Tool({ ui: { visibility: ['app'] } })
  move() {
    return 'moved';
  }

  @Tool({ ui: BOARD })
  silent() {
    return { content: [] };
  }

  @Tool()
  plain() {
    return 'plain';
  }
}

class OwnerGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    return (
      context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers['x-owner'] === 'yes'
    );
  }
}

@App({ uri: 'ui://orders/own', method: 'page', listed: false })
@UseGuards(OwnerGuard)
@Injectable()
class OwnPage {
  private reads = 0;
  page() {
    return html(`Read ${(this.reads += 1)}`);
  }
}

const start = (classes: Type[], more: object = {}) =>
  startApp(classes, { module: { imports: [McpAppsModule.forRoot()] }, ...more });

const declaring = (mimeType: string) => ({ extensions: { [UI]: { mimeTypes: [mimeType] } } });

describe.each(platforms())('apps on %s', platform => {
  let app: TestApp;
  beforeAll(async () => (app = await start([OrdersBoard, OwnPage], { platform })));
  afterAll(() => app.close());

  describe.each(['modern', 'legacy'] as const)('for %s clients', era => {
    it('are named by their tools, with the old key beside the new one', async () => {
      const client = await app.client({ era });
      expect(client.getServerCapabilities()?.extensions).toHaveProperty([UI]);
      const { tools } = await client.listTools();
      const metas = Object.fromEntries(tools.map(({ name, _meta }) => [name, _meta]));
      expect(metas).toEqual({
        show: { ui: { resourceUri: BOARD }, 'ui/resourceUri': BOARD },
        move: { ui: { resourceUri: BOARD, visibility: ['app'] }, 'ui/resourceUri': BOARD },
        silent: { ui: { resourceUri: BOARD }, 'ui/resourceUri': BOARD },
      });
    });

    it('are read with what a host has to know', async () => {
      const client = await app.client({ era });
      const ui = {
        csp: { connectDomains: ['https://api.example.com'] },
        permissions: { camera: {} },
        prefersBorder: true,
      };
      const { contents } = await client.readResource({ uri: BOARD });
      expect(contents).toEqual([{ uri: BOARD, mimeType: MIME, text: html('Board'), _meta: { ui } }]);
      const { resources } = await client.listResources();
      expect(resources).toEqual([{ uri: BOARD, name: 'OrdersBoard', mimeType: MIME, _meta: { ui } }]);
    });

    it.each([
      ['shows views', declaring(MIME), 'See the board'],
      ['shows none', {}, 'Three orders are open'],
      ['shows others', declaring('text/plain'), 'Three orders are open'],
    ])('tell their tools whether the client %s', async (_, capabilities, text) => {
      const client = await app.client({ era, capabilities });
      expect(textOf(await client.callTool({ name: 'show' }))).toBe(text);
    });
  });

  it('are not listed, and read by whom the guards admit', async () => {
    const uri = 'ui://orders/own';
    const client = await app.client();
    await expect(client.readResource({ uri })).rejects.toThrow();
    const owner = await app.client({ headers: { 'x-owner': 'yes' } });
    const { contents } = await owner.readResource({ uri });
    expect(contents).toMatchObject([{ text: html('Read 1') }]);
  });

  it('warn once of a result without text', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const client = await app.client();
    for (let call = 0; call < 2; call++) await client.callTool({ name: 'silent' });
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/OrdersBoard.silent: its result has no text/)]]);
    warn.mockRestore();
  });
});

it('a view is read again when its file changes in development', async () => {
  const own = join(folder, 'own.html');
  writeFileSync(own, html('One'));
  @App({ uri: 'ui://own', file: own })
  class Own {}
  const app = await start([Own]);
  const client = await app.client();
  const read = async () => (await client.readResource({ uri: 'ui://own' })).contents;
  expect(await read()).toMatchObject([{ text: html('One') }]);
  writeFileSync(own, html('Two'));
  utimesSync(own, 1, 1);
  expect(await read()).toMatchObject([{ text: html('Two') }]);
  await app.close();
});

describe('a mistake stops the start', () => {
  const tool = (ui: unknown, more: object = {}) => {
    class Tools {
      @Tool({ ui: ui as string, ...more })
      show() {
        return '';
      }
      @Resource({ uri: 'ui://text' })
      text() {
        return '';
      }
    }
    return Tools;
  };

  it.each<[string, unknown, RegExp]>([
    ['an unknown view', 'ui://nowhere', /Tools.show: the view "ui:\/\/nowhere" does not exist/],
    ['another MIME type', 'ui://text', /is a resource of the type text\/plain/],
    ['no visibility', { resourceUri: BOARD, visibility: [] }, /visibility/],
    ['a csp on the tool', { resourceUri: BOARD, csp: {} }, /csp/],
    ['a number', 5, /"ui" must be a URI, or an object/],
  ])('%s', async (_, ui, message) => {
    await expect(start([tool(ui)])).rejects.toThrow(message);
  });

  it('a file that is not there', async () => {
    @App({ uri: 'ui://lost', file: join(folder, 'lost.html') })
    class Lost {}
    await expect(start([Lost])).rejects.toThrow(/the file of the view cannot be read/);
  });

  it('no McpAppsModule', async () => {
    await expect(startApp([OrdersBoard])).rejects.toThrow(/"ui" on the server "test" needs McpAppsModule/);
  });

  it.each<[string, object, RegExp]>([
    ['another scheme', { uri: 'https://board', html: '' }, /"uri" must be a URI with the scheme ui/],
    ['no source', { uri: BOARD }, /give one of "file", "html" and "method"/],
    ['two sources', { uri: BOARD, html: 'a', file: 'b' }, /give one of/],
    ['a method that does not exist', { uri: BOARD, method: 'none' }, /the class has no method "none"/],
    [
      'an origin that would end the policy',
      { uri: BOARD, html: 'a', csp: { connectDomains: ['https://a.example; script-src *'] } },
      /connectDomains/,
    ],
    ['an unknown permission', { uri: BOARD, html: 'a', permissions: ['sun'] }, /permissions/],
  ])('%s', (_, options, message) => {
    expect(() => App(options as AppOptions)(class Wrong {})).toThrow(message);
  });
});

it('a guard hides a view with its class', async () => {
  class Nobody implements CanActivate {
    canActivate() {
      return false;
    }
  }
  @App({ uri: 'ui://hidden', html: html('Hidden') })
  @Visible(Nobody)
  class Hidden {}
  const app = await start([Hidden]);
  const client = await app.client();
  expect((await client.listResources()).resources).toEqual([]);
  await expect(client.readResource({ uri: 'ui://hidden' })).rejects.toThrow(/not found/i);
  await app.close();
});
