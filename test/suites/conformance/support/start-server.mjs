import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { build } from './build.mjs';

/** Starts the conformance server, or with `BACKEND` a gateway, on a free port, and waits until it listens. */
export async function startServer(env) {
  const child = spawn(process.execPath, [build().server], {
    env: { ...process.env, PORT: '0', BACKEND: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  process.once('exit', () => child.kill());
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      const [, listening] = /^Listening on (.+)$/.exec(line) ?? [];
      if (listening) resolve(listening);
      else console.log(line);
    });
    exited.then(([code]) => reject(new Error(`The conformance server ended with code ${code}`)), reject);
  });
  return {
    url,
    async close() {
      child.kill();
      await exited;
    },
  };
}
