import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import type { INestApplication } from '@nestjs/common';
import { AppModule } from '../../docs/snippets/start/app.module.js';
import { toolSurface } from 'nestjs-mcp/testing';
import { folderWith, ROOT, runIn } from './io.js';

const MODULE = join(ROOT, 'docs/snippets/start/app.module.ts');

describe('nestjs-mcp surface', () => {
  let app: INestApplication;
  let url: string;
  let text: string;
  const seen: (string | undefined)[] = [];

  beforeAll(async () => {
    app = (await Test.createTestingModule({ imports: [AppModule] }).compile()).createNestApplication();
    app.use((request: { headers: Record<string, string> }, _response: unknown, next: () => void) => {
      seen.push(request.headers['x-key']);
      next();
    });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/mcp`;
    ({ text } = await toolSurface(app));
  });

  afterAll(() => app.close());

  it('prints the tools of a module', async () => {
    const { code, out, err } = await runIn(ROOT, 'surface', '--module', MODULE);
    expect({ code, out }).toEqual({ code: 0, out: text });
    expect(err).toMatch(/^1 tool, about \d+ tokens in each conversation\n$/);
  });

  it.each(['modern', 'legacy'])('prints the tools of a %s endpoint for a caller', async era => {
    seen.length = 0;
    const { code, out } = await runIn(
      ROOT,
      'surface',
      '--url',
      url,
      '--era',
      era,
      '--header',
      'X-Key: secret',
    );
    expect({ code, out }).toEqual({ code: 0, out: text });
    expect(new Set(seen)).toEqual(new Set(['secret']));
  });

  it('writes a file, and compares the tools with it', async () => {
    const folder = folderWith({});
    const file = join(folder, 'surface.txt');
    expect((await runIn(folder, 'surface', '--url', url, '--write', 'surface.txt')).out).toBe('');
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(await runIn(folder, 'surface', '--url', url, '--check', 'surface.txt')).toMatchObject({
      code: 0,
      out: '',
    });

    // As git may check it out on Windows.
    writeFileSync(file, text.replaceAll('\n', '\r\n'));
    expect(await runIn(folder, 'surface', '--url', url, '--check', file)).toMatchObject({ code: 0, out: '' });

    writeFileSync(file, `find\n  description: "Gone"\n\n${text.replace('product catalogue', 'catalogue')}`);
    const { code, out, err } = await runIn(folder, 'surface', '--url', url, '--check', 'surface.txt');
    const [, input] = /input: (.*)/.exec(text)!;
    expect({ code, out }).toEqual({
      code: 1,
      out: `--- a/surface.txt
+++ b/surface.txt
@@ -1,6 +1,3 @@
-find
-  description: "Gone"
-
 search
-  description: "Search the catalogue"
+  description: "Search the product catalogue"
   input: ${input}
`,
    });
    expect(err).toContain('write it with --write surface.txt');
  });

  it.each(['modern', 'legacy'])('names --header if a module demands a login (%s)', async era => {
    const args = ['--module', join(ROOT, 'test/cli/closed.module.ts#ClosedModule'), '--era', era];
    const { code, err } = await runIn(ROOT, 'surface', ...args);
    expect(code).toBe(1);
    expect(err).toContain(`${args[1]}: the server answers HTTP 401 (Unauthorized: `);
    expect(err).toContain('; --header "Authorization: Bearer <token>" logs in\n');

    const found = await runIn(ROOT, 'surface', ...args, '--header', 'Authorization: Bearer key');
    expect(found.out).toMatch(/^count\n/);
  });

  it.each(['modern', 'legacy'])('names "allowedHosts" if a module refuses the host (%s)', async era => {
    const args = ['--module', join(ROOT, 'test/cli/named-host.module.ts#NamedHostModule'), '--era', era];
    const { code, err } = await runIn(ROOT, 'surface', ...args);
    expect(code).toBe(1);
    expect(err).toContain(`${args[1]}: the server answers HTTP 403 (Forbidden: the Host header `);
    expect(err).toContain('; add the host, for --module 127.0.0.1, to "http.allowedHosts"\n');
  });

  it('says what to install if the client of the SDK is missing', async () => {
    const path = '@modelcontextprotocol/client';
    jest.doMock(path, () => {
      throw Object.assign(new Error(`Cannot find package '${path}'`), { code: 'ERR_MODULE_NOT_FOUND' });
    });
    jest.resetModules();
    try {
      const { code, err } = await runIn(ROOT, 'surface', '--url', url);
      expect(code).toBe(1);
      expect(err).toContain(`npm install ${path}`);
    } finally {
      jest.dontMock(path);
      jest.resetModules();
    }
  });

  it('says why an endpoint does not answer', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const { code, err } = await runIn(ROOT, 'surface', '--url', `http://127.0.0.1:${port}/mcp`);
    expect(code).toBe(1);
    expect(err).toContain(`http://127.0.0.1:${port}/mcp: connect ECONNREFUSED`);
  });

  it.each([
    [[], 'give either --url or --module'],
    [['--url', 'http://127.0.0.1:1/mcp', '--era', 'new'], '--era "new": give modern or legacy'],
    [['--module', 'no.module.js'], '--module no.module.js cannot be loaded: '],
    [['--module', 'bad.module.ts'], 'Compile the application and name the file in its output'],
    [['--module', `${MODULE}#Other`], 'the file exports no class Other'],
    [
      ['--module', MODULE, '--check', 'none.txt'],
      'there is no file none.txt: write it with --write none.txt',
    ],
    [['--module', MODULE, '--check', 'folder'], 'there is no file folder: write it with --write folder'],
    [['--module', MODULE, '--write', 'folder'], '--write folder: this is a folder'],
    [
      ['--module', MODULE, '--write', 'bad.module.ts/a.txt'],
      '--write bad.module.ts/a.txt: there is no folder /',
    ],
    [['--module', MODULE, '--write', 'none/a.txt'], '--write none/a.txt: there is no folder /'],
    [['--module', MODULE, '--write', 'a.txt', '--check', 'a.txt'], 'give either --write or --check'],
  ])('refuses %j', async (args, message) => {
    const folder = folderWith({ 'bad.module.ts': '@Module( {', 'folder/x': '' });
    const { code, out, err } = await runIn(folder, 'surface', ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
    expect(err).not.toContain('    at ');
  });
});
