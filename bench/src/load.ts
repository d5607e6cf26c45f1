import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { LOAD_CORE, onCore } from './pinned.js';
import type { Posted } from './requests.js';

/** What to send where, and how long. */
export interface Load {
  readonly url: string;
  /** One request for each connection. Each is sent again as soon as it, and its poll, is answered. */
  readonly requests: readonly Posted[];
  readonly ms: number;
}

/** How a server answered. */
export interface Throughput {
  /** All answers. A request and its poll count once. */
  readonly count: number;
  /** The same, a second. */
  readonly rps: number;
  readonly p99Ms: number;
}

/** Sends requests from a process of its own, so that it can have a core of its own. */
export async function load(what: Load): Promise<Throughput> {
  const script = join(import.meta.dirname, 'load-process.js');
  const [program, args] = onCore(LOAD_CORE, [process.execPath, script]);
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send(what);
  const [answered] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
  if (typeof answered !== 'object') throw new Error('The load failed');
  return answered as Throughput;
}
