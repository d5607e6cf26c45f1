import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Project, ROOT } from './package.js';

/** Optional packages that the application does not use. */
const MISSING = [
  '@modelcontextprotocol/client',
  '@nestjs/microservices',
  '@nestjs/terminus',
  '@opentelemetry/api',
  'jose',
  'redis',
];
const ERAS = ['modern', 'legacy'] as const;

const running = new Set<ChildProcess>();

/** Starts a program, which prints its URL. */
async function start(file: string): Promise<string> {
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  for await (const line of createInterface(child.stdout)) if (line.startsWith('http')) return line;
  throw new Error(`${file} ended before it listened`);
}

async function connect(url: string, era: (typeof ERAS)[number]): Promise<Client> {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const capabilities = { elicitation: { form: {} } };
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { city: 'Oslo' } }));
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)));
  return client;
}

async function textOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const { content } = await client.callTool({ name, arguments: args });
  return (content[0] as { text?: string }).text;
}

let project: Project;
beforeAll(async () => {
  project = await Project.create(MISSING);
  project.compile('app.ts', 'main.cjs');
  project.compile('app.ts', 'main.mjs');
  const bundle = join(__dirname, 'bundle.mjs');
  await promisify(execFile)(process.execPath, [bundle, project.folder], { cwd: ROOT });
}, 180_000);
afterEach(() => {
  for (const child of running) child.kill();
  running.clear();
});
afterAll(() => project.remove());

describe.each([
  'main.cjs',
  'main.mjs',
  'bundles/esbuild/main.cjs',
  'bundles/esbuild/main.mjs',
  'bundles/webpack/main.js',
  'bundles/rspack/main.js',
])('%s', file => {
  it('serves DTOs, zod and elicitations in both eras', async () => {
    const url = await start(project.path(file));
    for (const era of ERAS) {
      const client = await connect(url, era);
      const order = { item: { sku: 'lamp', count: 2 } };
      expect(await textOf(client, 'order', order)).toBe('true: 2 of lamp');
      expect(await textOf(client, 'sum', { a: 1, b: 2 })).toBe('3');
      expect(await textOf(client, 'ship')).toBe('shipped to Oslo');
      await client.close();
    }
  });
});

describe('an application that uses both module formats', () => {
  it('has one copy of the classes, and an explorer of its servers', async () => {
    project.compile('library.ts', 'library.mjs');
    const url = await start(project.compile('both-formats.ts', 'both.cjs'));
    for (const era of ERAS) {
      const client = await connect(url, era);
      expect(await textOf(client, 'same')).toBe('true, true');
      await expect(client.callTool({ name: 'refuse' })).rejects.toThrow('The shop is closed');
      await client.close();
    }
    const page = await fetch(new URL('/mcp-explorer', url));
    expect(page.status).toBe(200);
  });
});

describe('the declarations', () => {
  it.each(['node10', 'nodenext', 'bundler'])('resolve with moduleResolution %s', async moduleResolution => {
    const entries = ['', '/auth', '/explorer', '/interceptors', '/redis', '/telemetry'];
    project.write('entries.ts', entries.map(entry => `import 'nestjs-mcp${entry}';`).join('\n'));
    const module = moduleResolution === 'nodenext' ? 'nodenext' : 'commonjs';
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2022',
      types: [],
      noEmit: true,
      skipLibCheck: true,
      noUncheckedSideEffectImports: true,
      ignoreDeprecations: '6.0',
    };
    project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['entries.ts'] }));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    // Fails with what it has found.
    await project.run([tsc, '-p', '.']);
  });
});
