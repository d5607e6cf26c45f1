// Serves the conformance server: `npm run conformance:server`, with PORT, ADAPTER, LEGACY and BACKEND as server/main.ts
// has them.
import { createRequire } from 'node:module';
import { build } from './support/build.mjs';

createRequire(import.meta.url)(build().server);
