import { resolve } from 'node:path';
import { optionsOf, type Io } from '../command.js';
import { compiler } from './checks/compiler.js';
import { missing, notInstalled, twoCopies } from './checks/packages.js';
import { hosts, listening, noModule, port, proxies } from './checks/server.js';
import { nest, node } from './checks/versions.js';
import type { Check, Finding } from './finding.js';
import { SetUp } from './set-up.js';

const USAGE = `Usage: nestjs-mcp doctor [folder]

Reads the set-up of an application, without starting it, and prints what is wrong. The headings are
those of the page "Troubleshooting". The exit code is 1 if something is wrong.
`;

const CHECKS: readonly Check[] = [
  node,
  nest,
  notInstalled,
  missing,
  twoCopies,
  compiler,
  noModule,
  hosts,
  proxies,
  listening,
  port,
];

/** Prints what is wrong in the set-up of an application. */
export async function doctor(args: readonly string[], io: Io): Promise<number> {
  const options = optionsOf(args, {}, USAGE, io, 1);
  if (!options) return 0;
  const folder = resolve(io.cwd, options.positionals[0] ?? '.');
  const findings = await examine(folder);
  io.out(findings.length === 0 ? 'Nothing is wrong in the set-up\n' : findings.map(textOf).join('\n'));
  return findings.length === 0 ? 0 : 1;
}

/** What is wrong in the application of a folder. */
export async function examine(folder: string): Promise<readonly Finding[]> {
  const setUp = new SetUp(folder);
  return (await Promise.all(CHECKS.map(async check => check(setUp)))).flat();
}

const textOf = ({ heading, seen, remedy }: Finding): string => `${heading}\n  ${seen}\n  ${remedy}\n`;
