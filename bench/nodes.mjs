// Measures what several nodes cost in Redis: `npm run bench:nodes -- --nodes=6 --sessions=20000`.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { build } from '../test/suites/conformance/support/build.mjs';
import { install } from '../test/suites/conformance/support/install.mjs';

const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc');

install(import.meta.dirname);
build();
execFileSync(process.execPath, [tsc, '-p', import.meta.dirname], { stdio: 'inherit' });
await import('./dist/nodes/main.js');
