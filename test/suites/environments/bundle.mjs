// Bundles `main.cjs` and `main.mjs` of a project with the settings of the documentation.
// Usage: node test/suites/environments/bundle.mjs <project>
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { rspack } from '@rspack/core';
import * as esbuild from 'esbuild';
import webpack from 'webpack';

const [project] = process.argv.slice(2);
const settings = join(import.meta.dirname, '../../../docs/snippets/bundling');
const config = createRequire(import.meta.url)(join(settings, 'webpack.config.cjs'));

/** The options that the documented script gives to esbuild. */
function esbuildOptions() {
  const script = readFileSync(join(settings, 'esbuild.mjs'), 'utf8');
  const [, text] = /build\((\{.*\})\);/s.exec(script);
  return new Function(`return ${text}`)();
}

const withEsbuild = (entry, changes) =>
  esbuild.build({
    ...esbuildOptions(),
    absWorkingDir: project,
    entryPoints: [entry],
    logLevel: 'error',
    ...changes,
  });

const run = (bundler, name) =>
  new Promise((resolve, reject) => {
    const output = { ...config.output, path: join(project, 'bundles', name) };
    const cache = false;
    bundler({ ...config, cache, context: project, entry: './main.cjs', output }).run((error, stats) => {
      if (error ?? stats.hasErrors()) reject(error ?? new Error(stats.toString('errors-only')));
      else resolve();
    });
  });

await Promise.all([
  withEsbuild('main.mjs', { outfile: 'bundles/esbuild/main.mjs' }),
  withEsbuild('main.cjs', { outfile: 'bundles/esbuild/main.cjs', format: 'cjs', banner: {} }),
  run(webpack, 'webpack'),
  run(rspack, 'rspack'),
]);
