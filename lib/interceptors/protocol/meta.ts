/** Key in a result's `_meta` that names the interceptor that answered. */
export const SYNTHETIC_META = 'nestjs-mcp/synthetic';
/** Key in a result's `_meta` for the warnings of validators. */
export const WARNINGS_META = 'nestjs-mcp/warnings';
