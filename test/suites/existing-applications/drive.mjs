// Calls the routes of a started application by REST and by MCP.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export const counts = { passed: 0, failed: 0 };

/** Starts `dist/mcp.js` of an application, and gives its URL and what it logs of its routes. */
export async function start(folder) {
  const child = spawn(process.execPath, ['dist/mcp.js'], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
  });
  process.once('exit', () => child.kill());
  const lines = [];
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', line => lines.push(line));
  }
  const reader = createInterface({ input: child.stdout });
  const ended = once(child, 'close').then(() => {
    throw new Error(`The application ended:\n${lines.join('\n')}`);
  });
  const listening = (async () => {
    for await (const line of reader) {
      const [, url] = /^Listening: (\S+)/.exec(line) ?? [];
      if (url) return url;
    }
    return ended;
  })();
  const url = await Promise.race([listening, ended]);
  ended.catch(() => undefined);
  return { url, lines, stop: () => child.kill() };
}

/** A caller of an application: the same route by REST and by MCP. */
export async function caller(url, { endpoint, api, scheme, revision }, token) {
  const headers = token ? { authorization: `${scheme} ${token}` } : {};
  const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy';
  const client = new Client({ name: 'drive', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(endpoint, url), { requestInit: { headers } }),
  );
  return {
    client,
    async tool(name, args = {}) {
      try {
        const { content, isError } = await client.callTool({ name, arguments: args });
        const text = content.map(block => block.text).join('');
        return isError ? { error: text } : valueOf(text);
      } catch (error) {
        return { error: error.message };
      }
    },
    async rest(method, path, body) {
      const response = await globalThis.fetch(new URL(`${api}${path}`, url), {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const value = valueOf(await response.text());
      return response.ok ? value : { error: [value.message ?? JSON.stringify(value)].flat().join('; ') };
    },
  };
}

function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Counts a check, and prints it. */
export function check(step, actual, expected) {
  const isMet =
    expected instanceof RegExp ? expected.test(JSON.stringify(actual)) : isDeepStrictEqual(actual, expected);
  counts[isMet ? 'passed' : 'failed'] += 1;
  console.log(`  ${isMet ? 'ok' : 'FAILED'}  ${step} -> ${JSON.stringify(actual)?.slice(0, 160)}`);
  if (!isMet)
    console.log(`      expected ${expected instanceof RegExp ? expected : JSON.stringify(expected)}`);
}
