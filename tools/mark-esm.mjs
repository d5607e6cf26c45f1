// The package has no "type", so its .js files are CommonJS; this marks the ESM half of the build.
import { writeFileSync } from 'node:fs';

writeFileSync('dist/esm/package.json', '{ "type": "module" }\n');
