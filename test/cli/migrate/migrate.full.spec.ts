import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { run as runCommand } from '../../../cli/run.js';
import { APPLICATIONS } from './applications.js';

const ROOT = join(__dirname, '../../..');

let folder: string;
let output: string;
let errors: string;
const run = (...args: string[]) => {
  [output, errors] = ['', ''];
  return runCommand(['migrate', ...args], {
    cwd: folder,
    out: text => void (output += text),
    err: text => void (errors += text),
  });
};

const contents = () =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true })
      .filter(file => file.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'migrated-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  const { compilerOptions } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), path => ts.sys.readFile(path))
    .config as { compilerOptions: object };
  const paths = {
    'nestjs-mcp': [join(ROOT, 'lib/index.ts')],
    'nestjs-mcp/*': [join(ROOT, 'lib/*/index.ts')],
  };
  const options = { ...compilerOptions, paths, noEmit: true };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['*.ts'] }),
  );
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
}

/** What the compiler says under `strict`. */
function mistakes(): string[] {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(folder, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => {},
    },
  );
  const program = ts.createProgram(config?.fileNames ?? [], config?.options ?? {});
  return (config?.fileNames ?? [])
    .map(path => program.getSourceFile(path))
    .flatMap(file => program.getSemanticDiagnostics(file))
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}

describe.each(Object.entries(APPLICATIONS))('an application of %s', (peer, files) => {
  it('is converted: it compiles, starts, and answers', async () => {
    write(files);
    const before = contents();
    expect(await run('--dry-run')).toBe(0);
    expect(output).toContain('+++ b/app.module.ts');
    expect(contents()).toEqual(before);

    expect(await run()).toBe(0);
    expect(output).toBe('');
    expect(errors).toContain(' 0 comments');
    expect(JSON.parse(contents()['package.json'])).toEqual({
      name: 'shop',
      dependencies: { 'nestjs-mcp': expect.stringMatching(/^\^\d/) },
    });
    expect(mistakes()).toEqual([]);
    const after = contents();
    expect(Object.values(after).join('')).not.toContain(`'${peer.split(' ')[0]}'`);

    expect(await run()).toBe(0);
    expect({ output, errors }).toEqual({
      output: '',
      errors: 'Nothing to do in the files of tsconfig.json\n',
    });
    expect(contents()).toEqual(after);
    await drive();
  }, 120_000);
});

async function drive(): Promise<void> {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { AppModule } = require(join(folder, 'app.module.ts')) as { AppModule: Type };
  const app: INestApplication = await NestFactory.create(AppModule, { logger: ['error'] });
  try {
    await app.listen(0, '127.0.0.1');
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${await app.getUrl()}/mcp`)));
    expect(await client.callTool({ name: 'search', arguments: { text: 'am' } })).toMatchObject({
      content: [{ type: 'text', text: 'lamp' }],
    });
    expect(await client.readResource({ uri: 'product://1' })).toMatchObject({
      contents: [{ uri: 'product://1', text: 'chair' }],
    });
    const { messages } = await client.getPrompt({ name: 'review', arguments: { product: 'lamp' } });
    expect(messages).toMatchObject([{ role: 'user', content: { text: 'Review lamp' } }]);
    await client.close();
  } finally {
    await app.close();
  }
}
