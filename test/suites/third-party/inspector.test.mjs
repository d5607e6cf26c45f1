import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { modernNode } from '../conformance/support/install.mjs';
import { startServer } from '../conformance/support/start-server.mjs';

const launcher = join(
  import.meta.dirname,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

// The inspector keeps files in the user's home.
const home = mkdtempSync(join(tmpdir(), 'inspector-'));
const env = { ...process.env, HOME: home, USERPROFILE: home };
after(() => rmSync(home, { recursive: true }));

/** Runs one method through `mcp-inspector --cli`. */
async function inspect(url, era, method, ...args) {
  const options = ['--transport', 'http', '--protocol-era', era, '--format', 'json', '--quiet'];
  const { stdout } = await promisify(execFile)(
    modernNode(),
    [launcher, '--cli', url, ...options, '--method', method, ...args],
    { env, timeout: 60_000 },
  );
  return JSON.parse(stdout).result;
}

for (const adapter of ['express', 'fastify']) {
  for (const era of ['legacy', 'modern']) {
    describe(`The inspector's command line on ${adapter}, ${era}`, { concurrency: true }, () => {
      let server;
      const run = (...args) => inspect(server.url, era, ...args);

      before(async () => {
        server = await startServer({ ADAPTER: adapter });
      });
      after(() => server?.close());

      it('lists tools, and finds their schemas portable', async () => {
        const { tools } = await run('tools/list', '--strict');
        assert.ok(tools.some(({ name }) => name === 'test_simple_text'));
      });

      it('calls a tool', async () => {
        const { content } = await run(
          'tools/call',
          '--tool-name',
          'test_x_mcp_header',
          '--tool-arg',
          'region=eu',
        );
        assert.deepEqual(content, [{ type: 'text', text: 'region=eu' }]);
      });

      it('reads a resource', async () => {
        const { contents } = await run('resources/read', '--uri', 'test://template/7/data');
        assert.equal(JSON.parse(contents[0].text).id, '7');
      });

      it('gets a prompt', async () => {
        const args = ['--prompt-args', 'arg1=hello', 'arg2=world'];
        const { messages } = await run('prompts/get', '--prompt-name', 'test_prompt_with_arguments', ...args);
        assert.match(messages[0].content.text, /hello.*world/);
      });
    });
  }
}
