import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Whether server and load have a core each. A smoke run starts its servers at once, on all cores. */
export const isPinned =
  !process.argv.includes('--smoke') &&
  availableParallelism() > 1 &&
  spawnSync('taskset', ['-V']).status === 0;

export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** The command that runs a command on one core, if there is `taskset`. */
export function onCore(core: number, command: readonly string[]): [string, string[]] {
  const [program, ...args] = isPinned ? ['taskset', '-c', String(core), ...command] : command;
  return [program, args];
}
