// #region build
import { build } from 'esbuild';

await build({
  entryPoints: ['dist/main.js'],
  outfile: 'bundle/main.mjs',
  bundle: true,
  platform: 'node',
  format: 'esm',
  // Optional packages of Nest that are not installed.
  external: ['@nestjs/microservices', '@nestjs/websockets'],
  // CommonJS packages in an ESM bundle call `require`. A CommonJS bundle needs no banner.
  banner: {
    js: "import { createRequire as from } from 'node:module'; const require = from(import.meta.url);",
  },
});
// #endregion build
