import { createServer } from 'node:net';
import process from 'node:process';
import type { Check, Finding } from '../finding.js';
import type { SetUp, SourceFile } from '../set-up.js';

/** Names of this machine: no other machine reaches what listens there. */
const LOOPBACK = /['"`](127\.0\.0\.1|localhost|::1)['"`]/;

const isTest = ({ path }: SourceFile) => /\.(spec|test|e2e-spec)\.[cm]?[jt]s$/.test(path);

const findSource = (setUp: SetUp, pattern: RegExp): SourceFile | undefined =>
  setUp.sources.find(source => !isTest(source) && pattern.test(source.text));

export const noModule: Check = setUp => {
  const handlers = findSource(setUp, /@(Tool|Prompt|Resource|ResourceTemplate)\(/);
  if (!handlers || findSource(setUp, /\bMcpModule\s*\.\s*forRoot(Async)?\b/)) return [];
  return [
    {
      heading: 'No module imports McpModule',
      seen: `${handlers.path} declares a handler, and no file has McpModule.forRoot`,
      remedy: 'Run nest add nestjs-mcp, or import McpModule.forRoot in the root module',
    },
  ];
};

export const hosts: Check = setUp => {
  const [deployed] = setUp.deployment;
  const server = findSource(setUp, /\bMcpModule\s*\.\s*forRoot(Async)?\b/);
  if (!deployed || !server || findSource(setUp, /\ballowedHosts\b/)) return [];
  if (!findSource(setUp, LISTEN)) return [];
  return [
    {
      heading: 'The server refuses the host of its deployment',
      seen: `${deployed.path} deploys the application, and no file sets "allowedHosts"`,
      remedy: "Set http.allowedHosts of McpModule to the public host: ['shop.example.com']",
    },
  ];
};

/** An nginx without the header of the client sends the name of its upstream, which the server refuses. */
export const proxies: Check = setUp =>
  setUp.deployment.flatMap(({ path, text, kind }): Finding[] => {
    if (kind !== 'nginx' || /\bproxy_set_header\s+Host\s/i.test(text)) return [];
    const names = Array.from(text.matchAll(/\bproxy_pass\s+https?:\/\/([^\s;:/]+)/g), ([, name]) => name);
    const sent = names.find(name => !ANSWERED.test(name) && !findSource(setUp, quoted(name)));
    if (sent === undefined) return [];
    return [
      {
        heading: 'The server refuses the host of its deployment',
        seen: `${path} sends the host "${sent}" in place of the host that the client names`,
        remedy: 'Write "proxy_set_header Host $host;" beside "proxy_pass"',
      },
    ];
  });

/** Upstreams whose name the server answers by default. nginx sends `localhost` to a socket. */
const ANSWERED = /^(127\.0\.0\.1|localhost|\[.*|unix)$/;

const quoted = (name: string) => new RegExp(`['"\`]${name.replaceAll(/[^\w-]/g, '\\$&')}['"\`]`);

export const listening: Check = setUp => {
  const deployed = setUp.deployment.find(({ kind }) => kind === 'container');
  const call = listenIn(setUp);
  if (!deployed || !call || !LOOPBACK.test(call.args) || isReplaced(call.args, setUp)) return [];
  return [
    {
      heading: 'The application listens inside its container only',
      seen: `${call.path} has listen(${call.args}), and ${deployed.path} deploys it`,
      remedy: "Listen on '0.0.0.0', or on no host",
    },
  ];
};

/** Whether a file that runs the container names the variable before the host: `process.env.HOST ?? 'localhost'`. */
function isReplaced(args: string, { deployment }: SetUp): boolean {
  const [, name] = /\bprocess\.env\b[^\w]*(\w+)\b[^\w]*(?:\?\?|\|\|)\s*['"`]/.exec(args) ?? [];
  if (name === undefined) return false;
  return deployment.some(({ kind, text }) => kind === 'container' && new RegExp(`\\b${name}\\b`).test(text));
}

export const port: Check = async setUp => {
  const call = listenIn(setUp);
  const own = Number(process.env['PORT'] ?? /\b\d{2,5}\b(?![.'"])/.exec(call?.args ?? '')?.[0]);
  if (!call || !(own > 0 && own < 65_536) || !(await isTaken(own)) || (await isServer(own))) return [];
  const finding: Finding = {
    heading: 'The port is in use',
    seen: `another program listens on ${own}, the port of ${call.path}`,
    remedy: 'End that program, or set another port',
  };
  return [finding];
};

const LISTEN = /\.listen\(/;

/** The arguments of `app.listen()`, as they are written. */
function listenIn(setUp: SetUp): { readonly path: string; readonly args: string } | undefined {
  const source = findSource(setUp, LISTEN);
  const [, args] = /\.listen\(\s*((?:[^()]|\([^()]*\))*?),?\s*\)/.exec(source?.text ?? '') ?? [];
  return source && args !== undefined ? { path: source.path, args } : undefined;
}

function isTaken(number: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', error => resolve((error as NodeJS.ErrnoException).code === 'EADDRINUSE'));
    server.listen(number, () => server.close(() => resolve(false)));
  });
}

/** Whether an MCP server answers there: then it is the application that runs. */
async function isServer(number: number): Promise<boolean> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  try {
    const signal = AbortSignal.timeout(2000);
    const answer = await fetch(`http://localhost:${number}/mcp`, { method: 'POST', headers, body, signal });
    return (await answer.text()).includes('"jsonrpc"');
  } catch {
    return false;
  }
}
