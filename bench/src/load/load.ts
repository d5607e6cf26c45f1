import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { LOAD_CORE, onCore } from './pinned.js';

/** What to send where, and how long. */
export interface Load {
  readonly port: number;
  /** One whole HTTP request for each connection. */
  readonly requests: readonly string[];
  /** How long answers are not counted, in milliseconds. */
  readonly warmUpMs: number;
  readonly ms: number;
}

/** How a server answered. */
export interface Throughput {
  /** Requests a second. */
  readonly rps: number;
  readonly p99Ms: number;
  /** Part of a core that the load itself took: near 1, it could not send more. */
  readonly loadCpu: number;
}

const TIMEOUT_MS = 30_000;

export function load(what: Load): Promise<Throughput> {
  const script = join(import.meta.dirname, 'load-process.js');
  const [program, args] = onCore(LOAD_CORE, [process.execPath, script, JSON.stringify(what)]);
  const timeout = what.warmUpMs + what.ms + TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    execFile(program, args, { timeout }, (error, stdout, stderr) => {
      if (error) reject(new Error(stderr || 'The server did not answer in time'));
      else resolve(JSON.parse(stdout) as Throughput);
    });
  });
}
