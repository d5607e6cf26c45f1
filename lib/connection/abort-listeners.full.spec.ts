import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** How many listeners Node lets pile up on a signal that `fetch` is given before it warns. */
const NODE_LIMIT = 1500;

// In a process of its own: warnings of Node go to stderr, and Jest has an EventTarget of its own.
it('a busy client over HTTP leaves no listeners on the signal of its connection', async () => {
  const fixtures = join(__dirname, '../../test/fixtures');
  // With room for garbage: Node removes the listeners of requests that it has collected.
  const space = 512;
  const script = [
    `--min-semi-space-size=${space}`,
    `--max-semi-space-size=${space}`,
    '-r',
    join(fixtures, 'ts-hook.cjs'),
    join(fixtures, 'busy-client.ts'),
    String(NODE_LIMIT + 500),
  ];
  const child = spawn(process.execPath, script, {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  expect({ output: output.trim(), errors, code }).toEqual({ output: 'done', errors: '', code: 0 });
}, 120_000);
