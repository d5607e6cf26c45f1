import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Request } from './contenders/setup.js';
import { onCore, SERVER_CORE } from './pinned.js';

export interface ServerProcess {
  readonly url: string;
  /** From the start of the process until it listens, in milliseconds. */
  readonly startUpMs: number;
  ask<T>(request: Request): Promise<T>;
  stop(): void;
}

/** Starts one of the servers beside this file, and waits until it says where it listens. */
export async function startServer(file: string, ...args: string[]): Promise<ServerProcess> {
  const start = performance.now();
  const script = join(import.meta.dirname, file);
  const server = spawn(...onCore(SERVER_CORE, [process.execPath, '--expose-gc', script, ...args]), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(server, 'exit').then(() => {
    throw new Error(`${file} ${args.join(' ')} ended`);
  });
  ended.catch(() => undefined);
  const message = async <T>() => ((await Promise.race([once(server, 'message'), ended])) as [T])[0];
  const url = await message<string>();
  return {
    url,
    startUpMs: performance.now() - start,
    ask: request => {
      server.send(request);
      return message();
    },
    stop: () => void server.kill(),
  };
}
