#!/usr/bin/env node
import process from 'node:process';
import { run } from './run.js';

const write = process.stdout.write.bind(process.stdout);
// Whatever an application prints that a command starts: only the command writes to stdout.
process.stdout.write = process.stderr.write.bind(process.stderr);

void run(process.argv.slice(2), {
  cwd: process.cwd(),
  out: text => write(text),
  err: text => process.stderr.write(text),
}).then(code => {
  // An application that a command has started may hold timers and sockets. A pipe takes the output before the exit.
  write('', () => process.exit(code));
});
