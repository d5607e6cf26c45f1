import type { HandlerParam } from '../../execution/handler-params.js';
import { declaredMethodOf, isDto } from '../../execution/handler-target.js';
import { compileSchema } from '../../schema/compile-schema.js';
import { REFLECTED_TYPES } from '../../schema/reflected-types.js';
import { compileValue } from '../../schema/standard-schema-compiler.js';
import { parameterOf } from '../../schema/swagger/operation.js';
import type { CompiledSchema, JsonSchema, StandardSchemaWithJSON } from '../../schema/types.js';
import { whyUnknown } from '../parameter-remedies.js';
import { pipedInput, uncheckedByPipes } from './pipe-schema.js';
import type { Place, RouteArgument, RouteSource } from './route-types.js';

/** A path variable that only guards, middleware or a class of `@Param()` read. */
export function pathVariable({ target }: RouteSource, key: string, isRequired: boolean): RouteArgument {
  const words = parameterOf(declaredMethodOf(target), 'path', key)?.schema;
  return { place: 'path', key, schema: { type: 'string', ...words }, isRequired, isChecked: false };
}

/** The argument of a parameter with a name. @throws Error for a value of the body whose type is unknown */
export async function namedArgument(
  source: RouteSource,
  param: HandlerParam,
  place: Place,
): Promise<RouteArgument> {
  const key = param.data as string;
  const piped = await pipedInput(param);
  const words = parameterOf(declaredMethodOf(source.target), place, key);
  const check = piped.isChecked ? undefined : await checkOf(param, place);
  const unchecked = check && (await uncheckedByPipes(source, param, check));
  const schema = {
    ...words?.schema,
    ...(check?.jsonSchema ?? (piped.isChecked ? undefined : reflected(param, place, words?.schema))),
    ...piped.schema,
  };
  return {
    place,
    key,
    schema:
      place !== 'body' && schema['type'] === 'array' ? { items: { type: 'string' }, ...schema } : schema,
    isRequired: piped.isRequired ?? words?.required ?? place !== 'query',
    isChecked: piped.isChecked || (check !== undefined && unchecked === undefined),
    ...(unchecked && { check: unchecked }),
  };
}

/** The schema on the parameter, or its class. A pipe makes the class of a path or query value. */
async function checkOf(
  { schema, metatype }: HandlerParam,
  place: Place,
): Promise<CompiledSchema | undefined> {
  if (schema !== undefined) return compileValue(schema as StandardSchemaWithJSON);
  return place === 'body' && isDto(metatype) ? compileSchema(metatype, 'input') : undefined;
}

/** What TypeScript says of a value. The values of a URL are strings, of which a pipe may make any type. */
function reflected(param: HandlerParam, place: Place, words: JsonSchema | undefined): JsonSchema {
  const { metatype, pipes, data } = param;
  const type: unknown = pipes.length > 0 && place !== 'body' ? String : metatype;
  const known = type === Array ? { type: 'array' } : REFLECTED_TYPES.get(type);
  if (known) return words && 'type' in words ? {} : known;
  if (place !== 'body') return { type: 'string', ...words };
  if (words) return {};
  throw new Error(unknownType(param, `@Body("${String(data)}")`));
}

/** The mistake of a parameter whose type is unknown, with its remedy. */
export function unknownType({ metatype, index }: HandlerParam, decorator: string): string {
  const cause = whyUnknown(metatype, `parameter ${index + 1}`);
  return `the type of ${decorator} is unknown, so it would not be checked: ${cause}, or declare "inputSchema"`;
}
