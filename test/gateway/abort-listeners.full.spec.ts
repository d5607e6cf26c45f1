import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ERAS } from './support.js';

// In a process of its own: warnings of Node go to stderr, and Jest has an EventTarget of its own.
it.each(ERAS)(
  'many calls at a time to many %s backends leave no warning of listeners',
  async era => {
    const fixtures = join(__dirname, '../fixtures');
    const script = ['-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'busy-gateway.ts'), era];
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
  },
  120_000,
);
