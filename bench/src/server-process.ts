import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface ServerProcess {
  readonly url: string;
  stop(): void;
}

/** Starts one of the servers beside this file, and waits until it says where it listens. */
export async function startServer(file: string, ...args: string[]): Promise<ServerProcess> {
  const server = spawn(process.execPath, [join(import.meta.dirname, file), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface(server.stdout), 'line')) as [string];
  return { url, stop: () => void server.kill() };
}
