import { fileURLToPath } from 'node:url';

/** The page lies once in the package, beside the CommonJS build. */
export const pageFolder = fileURLToPath(new URL('../../cjs/explorer/page/', import.meta.url));
