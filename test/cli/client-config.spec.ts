import { read } from '../tooling/docs-pages.js';
import { folderWith, runIn } from './io.js';

const SHOP = { 'package.json': '{ "name": "@acme/shop" }' };
const URL_ARGS = ['--url', 'http://localhost:3000/mcp'];
const HEADER = ['--header', "Authorization: Bearer it's"];
const COMMAND = ['--', 'node', 'dist/main.js', '--stdio'];

async function config(client: string, ...args: readonly string[]): Promise<string> {
  const { code, out } = await runIn(folderWith(SHOP), 'client-config', '--for', client, ...args);
  expect(code).toBe(0);
  return out;
}

describe('nestjs-mcp client-config', () => {
  it.each([
    ['claude', URL_ARGS, 'claude mcp add --transport http shop http://localhost:3000/mcp'],
    [
      'claude',
      [...URL_ARGS, ...HEADER],
      String.raw`claude mcp add --transport http shop http://localhost:3000/mcp --header 'Authorization: Bearer it'\''s'`,
    ],
    ['claude', COMMAND, 'claude mcp add shop -- node dist/main.js --stdio'],
    ['inspector', COMMAND, 'npx @modelcontextprotocol/inspector@latest node dist/main.js -- --stdio'],
  ])('prints a command line for %s and %j', async (client, args, line) => {
    expect(await config(client, ...args)).toBe(`${line}\n`);
  });

  it.each([
    ['vscode', URL_ARGS, { servers: { shop: { type: 'http', url: URL_ARGS[1] } } }],
    ['vscode', COMMAND, { servers: { shop: { type: 'stdio', command: 'node', args: COMMAND.slice(2) } } }],
    ['cursor', COMMAND, { mcpServers: { shop: { command: 'node', args: COMMAND.slice(2) } } }],
    [
      'cursor',
      [...URL_ARGS, ...HEADER, '--name', 'store'],
      { mcpServers: { store: { url: URL_ARGS[1], headers: { Authorization: "Bearer it's" } } } },
    ],
  ])('prints a file for %s and %j', async (client, args, file) => {
    expect(JSON.parse(await config(client, ...args))).toEqual(file);
  });

  it('prints what the documentation and the explorer say', async () => {
    expect(read('docs/start.md')).toContain(await config('claude', ...URL_ARGS));
    expect(JSON.parse(read('docs/snippets/vscode-mcp.json'))).toEqual(
      JSON.parse(await config('vscode', ...URL_ARGS)),
    );
    const [, inspector] = /`(npx .*){origin}/.exec(read('lib/explorer/views/catalogue.ts')) ?? [];
    expect(await config('inspector', ...URL_ARGS)).toBe(`${inspector}http://localhost:3000/mcp\n`);
  });

  it.each([
    [['--for', 'emacs', ...URL_ARGS], '--for "emacs": give one of claude, vscode, cursor, inspector'],
    [URL_ARGS, 'give --for with one of claude, vscode, cursor, inspector'],
    [['--for', 'claude'], 'give either --url, or a command after --'],
    [['--for', 'claude', '--url', 'shop'], '--url "shop": write the URL of an endpoint'],
    [['--for', 'claude', ...URL_ARGS, '--header', 'token'], '--header "token": write "Name: value"'],
    [['--for', 'claude', ...HEADER, ...COMMAND], '--header needs --url'],
  ])('refuses %j', async (args, message) => {
    const { code, out, err } = await runIn(folderWith({}), 'client-config', ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
  });

  it.each([
    ['{', 'package.json is not JSON: '],
    ['null', 'package.json must hold an object'],
  ])('refuses a package.json of %s', async (text, message) => {
    const folder = folderWith({ 'package.json': text });
    const { code, out, err } = await runIn(folder, 'client-config', '--for', 'claude', ...URL_ARGS);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`nestjs-mcp client-config: ${message}`);
  });
});
