import { LRUCache } from 'lru-cache';
import { ForeignPatterns } from '../../schema/foreign-patterns.js';
import { compileJsonSchema } from '../../schema/json-schema-compiler.js';
import { compileSchema } from '../../schema/compile-schema.js';
import { PatternError } from '../../schema/linear-pattern.js';
import type { CompiledSchema } from '../../schema/types.js';
import type { ChainEntry } from '../chain/entry.js';
import { JsonSize } from '../library/json-size.js';

type ConfigSchema = Readonly<Record<string, unknown>>;
type ConfigCheck = NonNullable<ChainEntry['checkConfig']>;

/** Limits of a remote host's schema. Compiling a larger schema takes too long, so only the host checks against it. */
const SCHEMA_LIMITS = { maxBytes: 16_384, maxDepth: 20, maxNodes: 2000 };
const MAX_COMPILED = 100;

/** Keyed by the schema's text, because a host may advertise the same schema in every listing. */
const compiled = new LRUCache<string, ConfigCheck>({ max: MAX_COMPILED });

/** @throws Error for a schema that does not compile or does not describe an object */
export async function configCheck(configSchema: ConfigSchema): Promise<ConfigCheck> {
  try {
    return checkBy(await compileSchema(configSchema, 'input'));
  } catch (error) {
    throw new Error(`its "configSchema" cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Compiles a remote host's schema on demand, for a configuration that is not empty. A host can advertise thousands of
 * schemas.
 */
export function foreignConfigCheck(configSchema: ConfigSchema): ConfigCheck {
  let check: ConfigCheck | undefined;
  return config =>
    Object.keys(config).length === 0 ? undefined : (check ??= compiledOnce(configSchema))(config);
}

function compiledOnce(configSchema: ConfigSchema): ConfigCheck {
  if (new JsonSize(SCHEMA_LIMITS).add(configSchema).excess) return () => undefined;
  const text = JSON.stringify(configSchema);
  const check = compiled.get(text) ?? compile(configSchema);
  compiled.set(text, check);
  return check;
}

function compile(configSchema: ConfigSchema): ConfigCheck {
  const problemOf = (error: unknown) => `its configSchema cannot be used: ${(error as Error).message}`;
  try {
    const patterns = new ForeignPatterns();
    const check = checkBy(compileJsonSchema(configSchema, 'input', patterns));
    return config => {
      patterns.begin();
      try {
        return check(config);
      } catch (error) {
        if (error instanceof PatternError) return problemOf(error);
        throw error;
      }
    };
  } catch (error) {
    return () => problemOf(error);
  }
}

function checkBy(schema: CompiledSchema): ConfigCheck {
  return config => {
    const result = schema.validate(config);
    if (result instanceof Promise || result.ok) return undefined;
    return result.issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
  };
}
