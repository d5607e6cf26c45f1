import { startServer } from '../server-process.js';
import type { Setup } from './setup.js';

/** Starts the server behind a proxy, in a process whose CPU time does not count. @returns its URL */
export async function startBackend(setup: Setup): Promise<string> {
  const { url, stop } = await startServer('contenders/ours.js', JSON.stringify({ ...setup, isProxy: false }));
  process.once('exit', stop);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit());
  return url;
}
