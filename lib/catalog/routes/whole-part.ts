import type { HandlerParam } from '../../execution/handler-params.js';
import { declaredMethodOf, isDto } from '../../execution/handler-target.js';
import { compileSchema } from '../../schema/compile-schema.js';
import { parameterOf } from '../../schema/swagger/operation.js';
import type { SchemaLike } from '../../schema/types.js';
import { pipedInput, uncheckedByPipes } from './pipe-schema.js';
import { unknownType } from './route-argument.js';
import type { Place, RouteArgument, RouteSource, WholePart } from './route-types.js';

const DECORATORS: Readonly<Record<Place, string>> = {
  path: '@Param()',
  query: '@Query()',
  body: '@Body()',
};

/** @throws Error for a part of unknown type */
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
  return { place, param, source, schema, ...(check && { check }) };
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
