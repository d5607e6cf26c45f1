// Prints the files and functions that one `tools/call` passes, in each era: `npm run call-path`, with `--json` for programs.
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { createRequire } from 'node:module';
import { join, relative, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildPackage } from '../test/suites/conformance/support/build.mjs';

const root = join(import.meta.dirname, '..');
const ERAS = ['2026-07-28', '2025-11-25'];
/** Enough for whatever is made at the first calls. */
const WARM_UP = 200;

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const CLIENT = { name: 'call-path', version: '1.0.0' };

async function startApp() {
  const require = createRequire(import.meta.url);
  const { Module } = require('@nestjs/common');
  const { NestFactory } = require('@nestjs/core');
  const { Args, McpModule, Tool } = require('../dist/cjs/index.js');

  class Tools {
    echo({ text }) {
      return text;
    }
  }
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  Tool({ inputSchema })(Tools.prototype, 'echo', Object.getOwnPropertyDescriptor(Tools.prototype, 'echo'));
  Args()(Tools.prototype, 'echo', 0);
  class App {}
  Module({ imports: [McpModule.forRoot({ name: 'echo', version: '1.0.0' })], providers: [Tools] })(App);

  const app = await NestFactory.create(App, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  return app;
}

async function post(url, headers, message) {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  const response = await globalThis.fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
  return { sessionId: response.headers.get('mcp-session-id'), text: await response.text() };
}

/** A function that makes the call, as a client of the era does. */
async function callerOf(url, era) {
  const headers = { 'mcp-protocol-version': era };
  const params = { name: 'echo', arguments: { text: 'hello' } };
  if (era === '2025-11-25') {
    const initialize = { protocolVersion: era, clientInfo: CLIENT, capabilities: {} };
    const { sessionId } = await post(url, {}, { id: 0, method: 'initialize', params: initialize });
    headers['mcp-session-id'] = sessionId;
    await post(url, headers, { method: 'notifications/initialized' });
  } else {
    Object.assign(headers, { 'mcp-method': 'tools/call', 'mcp-name': 'echo' });
    params._meta = {
      'io.modelcontextprotocol/protocolVersion': era,
      'io.modelcontextprotocol/clientInfo': CLIENT,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
  }
  let id = 0;
  return async () => {
    const { text } = await post(url, headers, { id: ++id, method: 'tools/call', params });
    if (!text.includes('"hello"')) throw new Error(`The call was answered with ${text}`);
  };
}

/** The functions that run during one call, by file: of this package, and of the SDK. */
async function pathOf(call, session) {
  for (let index = 0; index < WARM_UP; index++) await call();
  await session.post('Profiler.takePreciseCoverage');
  await call();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const path = { lib: {}, sdk: {} };
  for (const { url, functions } of result) {
    const owner = ownerOf(url);
    if (!owner) continue;
    const source = readFileSync(fileURLToPath(url), 'utf8');
    const names = functions.filter(isPassed).map(one => nameOf(one, source));
    if (names.length > 0) path[owner.kind][owner.file] = names;
  }
  return path;
}

/** V8 counts the fields of a class as a function. */
const isPassed = ({ functionName, ranges }) =>
  ranges[0].count > 0 && functionName !== '<instance_members_initializer>';

function ownerOf(url) {
  if (!url.startsWith('file:')) return undefined;
  const file = relative(root, fileURLToPath(url)).split(sep).join('/');
  if (file.startsWith('dist/cjs/')) {
    return { kind: 'lib', file: file.replace(/^dist\/cjs/, 'lib').replace(/\.js$/, '.ts') };
  }
  const sdk = /node_modules\/(@modelcontextprotocol\/.+)$/.exec(file);
  return sdk ? { kind: 'sdk', file: sdk[1] } : undefined;
}

/** The name of a function, or how its text begins. */
function nameOf({ functionName, ranges: [{ startOffset, endOffset }] }, source) {
  if (functionName) return functionName;
  return source.slice(startOffset, endOffset).replace(/\s+/g, ' ').slice(0, 60);
}

const countOf = files => Object.values(files).flat().length;

function print(era, { lib, sdk }) {
  const summary = `${Object.keys(lib).length} files and ${countOf(lib)} functions of lib/`;
  console.log(`\n${era}: ${summary}, ${countOf(sdk)} functions of the SDK`);
  for (const [file, names] of Object.entries({ ...lib, ...sdk })) {
    console.log(`\n${file} (${names.length})`);
    for (const name of names) console.log(`  ${name}`);
  }
}

buildPackage();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const app = await startApp();
const paths = {};
for (const era of ERAS) paths[era] = await pathOf(await callerOf(`${await app.getUrl()}/mcp`, era), session);
await app.close();
session.disconnect();

if (process.argv.includes('--json')) console.log(JSON.stringify(paths));
else for (const era of ERAS) print(era, paths[era]);
