import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderWith, runIn } from '../io.js';

const MANIFEST = '{ "name": "shop", "dependencies": { "@nestjs/mcp": "^0.0.4" } }\n';

const SHOP = `import { McpModule } from '@nestjs/mcp';

export const shop = McpModule.forRoot({ name: 'shop', version: '1.0.0' });
`;

const application = (prefix = '') => ({
  [`${prefix}package.json`]: MANIFEST,
  [`${prefix}tsconfig.json`]: '{ "include": ["*.ts"] }',
  [`${prefix}shop.ts`]: SHOP,
});

/** No parser can write `add()` into this file. */
const BROKEN = `import { McpRegistryService } from '@rekog/mcp-nest';
class Reports {
  constructor(registry: McpRegistryService) {
    registry.registerTool({ name: 'report', handler: async (args => 1 });
  }
}
`;

const textIn = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8');

describe('nestjs-mcp migrate', () => {
  it('converts the application of a folder, and no other', async () => {
    const folder = folderWith({ ...application(), ...application('apps/shop/'), 'apps/pnpm-lock.yaml': '' });
    const { code, out, err } = await runIn(folder, 'migrate', 'apps/shop');
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toMatch(/^2 files, \d changes, 0 comments\nNext: run pnpm install/);
    expect(textIn(folder, 'shop.ts')).toBe(SHOP);
    expect(textIn(folder, 'package.json')).toBe(MANIFEST);
    expect(textIn(folder, 'apps/shop/package.json')).toContain('"nestjs-mcp"');
    expect(textIn(folder, 'apps/shop/shop.ts')).toContain("from 'nestjs-mcp'");
  });

  it('prints a diff, and remarks apart from it', async () => {
    const folder = folderWith({
      ...application(),
      'package.json': '{ "dependencies": { "nestjs-mcp": "0.1.0" } }',
    });
    const { code, out, err } = await runIn(folder, 'migrate', '--dry-run');
    expect(code).toBe(0);
    expect(out).toMatch(/^--- a\/shop\.ts\n\+\+\+ b\/shop\.ts\n@@ [^]*\n$/);
    expect(out).toContain(
      "-import { McpModule } from '@nestjs/mcp';\n+import { McpModule } from 'nestjs-mcp';\n",
    );
    expect(err).toMatch(/^1 file, \d changes, 0 comments; nothing is written\n$/);
    expect(textIn(folder, 'shop.ts')).toBe(SHOP);
  });

  it('names a file that it cannot convert, with the reason, and converts the others', async () => {
    const folder = folderWith({ ...application(), 'reports.ts': BROKEN });
    const { code, err } = await runIn(folder, 'migrate');
    expect(code).toBe(1);
    expect(err).toContain(
      'reports.ts is left as it was, because its conversion failed: Manipulation error: A syntax error was inserted',
    );
    expect(textIn(folder, 'reports.ts')).toBe(BROKEN);
    expect(textIn(folder, 'shop.ts')).toContain("from 'nestjs-mcp'");
  });

  it.each([
    ['a missing folder', ['apps'], {}, 'there is no folder /'],
    [
      'a folder without tsconfig.json',
      ['src'],
      { 'src/main.ts': '' },
      'src/tsconfig.json: name the tsconfig of',
    ],
    [
      'a folder without package.json',
      ['src'],
      { 'src/tsconfig.json': '{}', 'src/shop.ts': SHOP },
      'there is no package.json in /',
    ],
    ['a second folder', ['.', 'src'], {}, 'unexpected argument "src"\nUsage: nestjs-mcp migrate [folder]'],
    ['an unknown option', ['--projekt'], {}, "Unknown option '--projekt'"],
    [
      'a missing project',
      ['--project', 'elsewhere'],
      {},
      'name the tsconfig of the application with --project',
    ],
    [
      'a tsconfig without files',
      [],
      { 'tsconfig.json': '{ "include": ["lib"] }' },
      'includes no files: name the tsconfig',
    ],
    [
      'a broken tsconfig.json',
      [],
      { 'tsconfig.json': '{ "include": ["*.ts"] "x": 1 }' },
      "tsconfig.json: ',' expected",
    ],
    ['a broken package.json', [], { 'package.json': 'null' }, 'package.json must hold an object'],
  ])('refuses %s', async (_, args, files: Record<string, string>, message) => {
    const given = { ...application(), ...files };
    const folder = folderWith(given);
    const { code, out, err } = await runIn(folder, 'migrate', ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
    expect(err).not.toContain('    at ');
    for (const [path, text] of Object.entries(given)) expect(textIn(folder, path)).toBe(text);
  });
});
