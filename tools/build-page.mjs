// Writes the explorer's page for browsers: one script, one for the preview of apps with the licenses of its packages, the
// style and the HTML.
// Usage: node tools/build-page.mjs [folder]
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import * as esbuild from 'esbuild';
import * as vite from 'vite';

const source = join(import.meta.dirname, '../lib/explorer/page');
const [target = 'dist/cjs/explorer/page'] = process.argv.slice(2);

/** The preview of apps, with its packages. */
async function bridge() {
  const { output } = await vite.build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2022',
      rollupOptions: { input: join(source, 'app-bridge.ts'), preserveEntrySignatures: 'strict' },
    },
  });
  const [{ code, modules }] = output;
  const packages = Object.keys(modules).map(path => /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const notices = [...new Set(packages)].filter(Boolean).map(noticeOf);
  return `/*\n${notices.join('\n')}*/\n${code}`;
}

function noticeOf(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const license = readdirSync(folder).find(file => /^licen[cs]e/i.test(file));
  return `${name} ${version}\n\n${readFileSync(join(folder, license), 'utf8')}`;
}

await esbuild.build({
  entryPoints: [join(source, 'main.ts'), join(source, 'style.css')],
  outdir: target,
  bundle: true,
  minify: true,
  format: 'esm',
  // The first browsers with `light-dark()` and `Map.groupBy()`.
  target: ['chrome123', 'firefox120', 'safari17.5'],
  external: ['./app-bridge.js'],
});
writeFileSync(join(target, 'app-bridge.js'), await bridge());
copyFileSync(join(source, 'index.html'), join(target, 'index.html'));
