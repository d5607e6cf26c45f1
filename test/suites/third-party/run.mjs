// Runs clients that other people wrote against the conformance server: `npm run test:third-party`.
import { join } from 'node:path';
import process from 'node:process';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { build } from '../conformance/support/build.mjs';
import { install, modernNode } from '../conformance/support/install.mjs';

const FILES = ['v1-client.test.mjs', 'inspector.test.mjs', 'ext-tasks.test.mjs', 'mcpjam.test.mjs'];

install(import.meta.dirname);
install(join(import.meta.dirname, 'mcpjam'));
modernNode();
build();

let passed = 0;
let failed = 0;
const tests = run({ files: FILES.map(file => join(import.meta.dirname, file)), concurrency: true });
tests.on('test:pass', ({ details }) => (passed += details.type === 'suite' ? 0 : 1));
tests.on('test:fail', ({ details }) => (failed += details.type === 'suite' ? 0 : 1));
const report = tests.compose(spec);
report.pipe(process.stdout, { end: false });
await finished(report);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
