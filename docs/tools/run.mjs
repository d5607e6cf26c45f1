// Writes the API pages from the doc comments, then serves the site (`npm run docs`), or builds it and checks its links
// (`npm run docs:build`).
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { install } from '../../test/suites/conformance/support/install.mjs';

const docs = join(import.meta.dirname, '..');
const bin = name => join(docs, 'node_modules', name);
const run = (...args) => execFileSync(process.execPath, args, { cwd: docs, stdio: 'inherit' });

const [command] = process.argv.slice(2);
install(docs, ['install', '--no-save']);
if (command === 'build') await import('./check-deployments.mjs');
run(bin('typedoc/bin/typedoc'), '--options', 'typedoc.config.mjs', '--logLevel', 'Error');
run(bin('vitepress/bin/vitepress.js'), command);
if (command === 'build') await import('./check-links.mjs');
