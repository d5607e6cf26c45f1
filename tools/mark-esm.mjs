// The package has no "type", so its .js files are CommonJS; this marks the ESM half of the build.
// Usage: node tools/mark-esm.mjs [folder]
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const [folder = 'dist/esm'] = process.argv.slice(2);
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
// It uses `import.meta`, which TypeScript refuses in the CommonJS build.
copyFileSync(
  join(import.meta.dirname, '../lib/explorer/page-folder.mjs'),
  join(folder, 'explorer/page-folder.mjs'),
);
