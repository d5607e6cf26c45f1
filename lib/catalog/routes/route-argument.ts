import type { HandlerParam } from '../../execution/handler-params.js';
import { declaredMethodOf, isDto } from '../../execution/handler-target.js';
import { compileSchema } from '../../schema/compile-schema.js';
import { REFLECTED_TYPES } from '../../schema/reflected-types.js';
import { compileValue } from '../../schema/standard-schema-compiler.js';
import { parameterOf } from '../../schema/swagger/operation.js';
import type { CompiledSchema, JsonSchema, SchemaLike, StandardSchemaWithJSON } from '../../schema/types.js';
import { whyUnknown } from '../parameter-remedies.js';
import { pipedInput, uncheckedByPipes } from './pipe-schema.js';
import type { Place, RouteArgument, RouteSource, WholePart } from './route-types.js';

const DECORATORS: Readonly<Record<Place, string>> = {
  path: '@Param()',
  query: '@Query()',
  body: '@Body()',
};

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
function unknownType({ metatype, index }: HandlerParam, decorator: string): string {
  const cause = whyUnknown(metatype, `parameter ${index + 1}`);
  return `the type of ${decorator} is unknown, so it would not be checked: ${cause}, or declare "inputSchema"`;
}

/** The argument or the part of a parameter without a name. @throws Error for a part of unknown type */
export async function wholePart(
  route: RouteSource,
  param: HandlerParam,
  place: Place,
): Promise<WholePart | RouteArgument> {
  const { metatype, schema: declared } = param;
  const words = parameterOf(declaredMethodOf(route.target), place);
  const list = place === 'body' ? await listBody(param, metatype) : undefined;
  if (list) return list;
  const source = (declared ?? (isDto(metatype) ? metatype : words?.type)) as SchemaLike | undefined;
  if (!source) throw new Error(unknownType(param, DECORATORS[place]));
  const schema = await compileSchema(source, 'input');
  const check = await uncheckedByPipes(route, param, schema);
  return { place, source, schema, ...(check && { check }) };
}

/** A body that is a list becomes one argument. */
async function listBody(param: HandlerParam, metatype: unknown): Promise<RouteArgument | undefined> {
  const { schema = {}, isChecked } = await pipedInput(param);
  if (metatype !== Array && schema['type'] !== 'array') return undefined;
  if (schema['type'] !== 'array') {
    throw new Error(
      'the items of @Body() are unknown, so they would not be checked: add new ParseArrayPipe({ items: … }) to it, or declare "inputSchema"',
    );
  }
  return { place: 'body', key: undefined, schema, isRequired: true, isChecked };
}
