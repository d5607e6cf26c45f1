// Records what the official conformance suite sends to a server, for the differential test:
// `node test/suites/differential/record.mjs`. It is run again when a new version of the suite sends something else.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { install, modernNode } from '../conformance/support/install.mjs';
import { startServer } from '../conformance/support/start-server.mjs';

const RUNS = [
  ['--requirements', '2026-07-28'],
  ['--requirements', '2025-11-25'],
  ['--scenario', 'http-header-validation'],
  ['--scenario', 'http-custom-header-server-validation'],
  ['--scenario', 'json-schema-2020-12'],
];

/** Headers that every connection has, or that name this machine. */
const DROPPED =
  /^(host|connection|content-length|transfer-encoding|user-agent|sec-fetch-mode|accept-(language|encoding))$/;

const conformance = join(import.meta.dirname, '../conformance');
const modern = new Map();
const sessions = new Map();

/** Notes a request: those of a session in the order in which they came, any other once. */
function note({ method, headers }, text) {
  // A page of this machine is one without its port.
  const origin = headers.origin && { origin: headers.origin.replace(/:\d+$/, '') };
  const kept = Object.entries({ ...headers, ...origin }).filter(
    ([name]) => !DROPPED.test(name) && name !== 'mcp-session-id',
  );
  const request = { method, headers: Object.fromEntries(kept), ...(text !== '' && { body: text }) };
  const session = headers['mcp-session-id'];
  if (session === undefined) modern.set(JSON.stringify(request), request);
  // What a client answers depends on what it is asked, so the test answers by itself.
  else if (!isAnswer(text)) sessions.set(session, [...(sessions.get(session) ?? []), request]);
}

function isAnswer(text) {
  try {
    return JSON.parse(text).method === undefined;
  } catch {
    return false;
  }
}

async function record(target) {
  const { hostname, port } = new URL(target);
  const proxy = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    note(incoming, body.toString());
    const { method, url, headers } = incoming;
    const forward = send({ hostname, port, method, path: url, headers, agent: false }, answer => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    outgoing.once('close', () => forward.destroy());
    forward.once('error', () => outgoing.destroy());
    forward.end(body);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return { url: `http://127.0.0.1:${proxy.address().port}/mcp`, close: () => proxy.close() };
}

install(conformance);
const server = await startServer({ ADAPTER: 'express' });
const proxy = await record(server.url);
const program = join(conformance, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
for (const args of RUNS) {
  const output = join(tmpdir(), 'differential-record');
  const command = [program, 'server', '--url', proxy.url, ...args, '--output-dir', output];
  await new Promise(done => execFile(modernNode(), command, { timeout: 300_000 }, done));
}
proxy.close();
await server.close();

const sequences = new Map([...sessions.values()].map(steps => [JSON.stringify(steps), steps]));
const recorded = { requests: [...modern.values()], sessions: [...sequences.values()] };
writeFileSync(join(import.meta.dirname, 'conformance-traffic.json'), JSON.stringify(recorded));
