import { compileSchema } from '../../schema/compile-schema.js';
import type { ChainEntry } from '../chain/entry.js';

/** Compiles a `configSchema` into a function that says what is wrong with a configuration. */
export async function configCheck(
  configSchema: Readonly<Record<string, unknown>>,
): Promise<NonNullable<ChainEntry['checkConfig']>> {
  const schema = await compileSchema(configSchema, 'input');
  return config => {
    const result = schema.validate(config);
    if (result instanceof Promise || result.ok) return undefined;
    return result.issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
  };
}
