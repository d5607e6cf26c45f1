import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger, type Type } from '@nestjs/common';
import { App, McpAppsModule } from 'nestjs-mcp/apps';
import { startApp } from '../fixtures/matrix.js';

const folder = mkdtempSync(join(tmpdir(), 'html-errors-'));
const file = join(folder, 'board.html');
const { NODE_ENV } = process.env;

const TWO_ERRORS = '<!doctype html>\n<title>Board</title>\n<p id="a" id="b">\n<table/>';

let warn: jest.SpyInstance;
beforeEach(() => (warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation()));
afterEach(() => {
  process.env['NODE_ENV'] = NODE_ENV;
  jest.restoreAllMocks();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The warnings of a start about HTML. */
async function warningsOf(view: Type): Promise<unknown[]> {
  const app = await startApp([view], { module: { imports: [McpAppsModule.forRoot()] } });
  await app.close();
  return warn.mock.calls.flat().filter(line => String(line).includes('HTML'));
}

it('errors in the file of a view are warnings with the line and the code', async () => {
  writeFileSync(file, TWO_ERRORS);
  @App({ uri: 'ui://board', file })
  class Board {}
  expect(await warningsOf(Board)).toEqual([
    expect.stringMatching(`Board.*line 3 of ${file} is not valid HTML \\(duplicate-attribute\\)`),
    expect.stringMatching(/line 4 of .* \(non-void-html-element-start-tag-with-trailing-solidus\)/),
  ]);
});

it('errors in the option "html" name the option', async () => {
  @App({ uri: 'ui://board', html: '<title>Board</title>' })
  class Board {}
  expect(await warningsOf(Board)).toEqual([
    expect.stringContaining('line 1 of the option "html" is not valid HTML (missing-doctype)'),
  ]);
});

it('a view that a method returns is not known yet', async () => {
  @App({ uri: 'ui://board', method: 'render' })
  class Board {
    render() {
      return '<p';
    }
  }
  expect(await warningsOf(Board)).toEqual([]);
});

it('nothing is parsed in production', async () => {
  process.env['NODE_ENV'] = 'production';
  @App({ uri: 'ui://board', html: TWO_ERRORS })
  class Board {}
  expect(await warningsOf(Board)).toEqual([]);
});

it('nothing is parsed without parse5', async () => {
  jest.doMock('parse5', () => {
    throw new Error('Cannot find module');
  });
  @App({ uri: 'ui://board', html: TWO_ERRORS })
  class Board {}
  expect(await warningsOf(Board)).toEqual([]);
});
