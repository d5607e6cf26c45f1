import type { HandlerParam } from '../../execution/handler-params.js';
import { compileSchema } from '../../schema/compile-schema.js';
import { resolveLocalRef } from '../../schema/json-schema.js';
import type { JsonSchema, SchemaLike } from '../../schema/types.js';
import type { ArgumentNames } from './argument-names.js';
import { asGiven } from './flat-schema.js';
import { pathVariables } from './path-variables.js';
import { PARAM } from './refused.js';
import type { Place, RouteArgument, RouteInput } from './route-types.js';

/**
 * The input that the option `inputSchema` declares. What no path variable and no parameter with a name takes goes to the
 * body, or to the query of a route without a body.
 * @throws Error for a property that the route does not read
 */
export async function declaredInput(
  declared: SchemaLike,
  params: readonly HandlerParam[],
  path: string,
  names: ArgumentNames,
): Promise<RouteInput> {
  const schema = await compileSchema(declared, 'input');
  const named = (place: Place, key: string): RouteArgument => ({
    place,
    key,
    schema: {},
    isRequired: false,
    isChecked: false,
  });
  const keysOf = (paramtype: number) =>
    params.flatMap(param =>
      param.paramtype === paramtype && typeof param.data === 'string' ? [param.data] : [],
    );
  const args = [
    ...pathVariables(path).map(({ name }) => named('path', name)),
    ...keysOf(PARAM.query).map(key => named('query', key)),
    ...keysOf(PARAM.body).map(key => named('body', key)),
  ].map(arg => names.named(arg));
  names.assertUsed();
  const takesAll = (paramtype: number) =>
    params.some(param => param.paramtype === paramtype && param.data === undefined);
  const rest = takesAll(PARAM.body) ? 'body' : takesAll(PARAM.query) ? 'query' : undefined;
  const { properties = {} } = resolveLocalRef(schema.jsonSchema, schema.jsonSchema) ?? {};
  const stray = Object.keys(properties as JsonSchema).find(
    key => !rest && !args.some(({ name }) => name === key),
  );
  if (stray !== undefined)
    throw new Error(`its "inputSchema" has "${stray}", which no parameter of the route reads`);
  return {
    source: declared,
    schema: { jsonSchema: schema.jsonSchema, validate: asGiven(schema) },
    args,
    ...(rest && { rest }),
  };
}
