import type { Implementation, McpServerOptions } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { ResolvedOptions } from './server-options.js';

/** The name and description that a server sends to its clients. */
export function infoOf({ name, version, title, icons, websiteUrl }: ResolvedOptions): Implementation {
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(icons && { icons }),
    ...(websiteUrl !== undefined && { websiteUrl }),
  };
}

/** The options of the SDK's servers, which all connections share. */
export function sdkOptionsOf({ instructions, cache, mrtr }: ResolvedOptions): McpServerOptions {
  // The SDK does not support this method.
  const { 'interceptors/list': _listing, ...cacheHints } = cache;
  return {
    ...(instructions !== undefined && { instructions }),
    cacheHints,
    inputRequired: { maxRounds: mrtr.maxRounds, roundTimeoutMs: mrtr.suspension.idleTimeoutMs },
    // Shared, because the SDK would otherwise create a validator for every connection.
    jsonSchemaValidator: new AjvJsonSchemaValidator(),
  };
}
