import type { ToolOptions } from '../../decorators/handler-options.js';
import type { HandlerParam } from '../../execution/handler-params.js';
import { isDto } from '../../execution/handler-target.js';
import { embedded, freeKey } from '../../schema/json-schema.js';
import type { JsonSchema } from '../../schema/types.js';
import { ArgumentNames } from './argument-names.js';
import { declaredInput } from './declared-input.js';
import { flatSchema } from './flat-schema.js';
import { pathVariables } from './path-variables.js';
import { PARAM } from './refused.js';
import { namedArgument, pathVariable, wholePart } from './route-argument.js';
import type {
  NamedArgument,
  Place,
  RouteArgument,
  RouteInput,
  RouteSource,
  WholePart,
} from './route-types.js';

const PLACES = [
  ['path', PARAM.path],
  ['query', PARAM.query],
  ['body', PARAM.body],
] as const;

/**
 * Compiles the input of a route.
 * @param path of the route, with its prefix
 * @throws Error for a parameter of unknown type, and for equal names
 */
export async function routeInput(
  route: RouteSource,
  params: readonly HandlerParam[],
  path: string,
  options: ToolOptions,
): Promise<RouteInput> {
  const names = new ArgumentNames(options.params);
  if (options.inputSchema !== undefined) return declaredInput(options.inputSchema, params, path, names);

  const args: NamedArgument[] = [];
  const parts: WholePart[] = [];
  const $defs: Record<string, unknown> = {};
  for (const [place, paramtype] of PLACES) {
    const own = params.filter(param => param.paramtype === paramtype);
    const found = await argumentsOf(route, own, place, parts, $defs);
    const all = place === 'path' ? ofPath(route, path, found) : found;
    args.push(...all.map(arg => names.named(arg)));
  }
  names.assertUsed();
  return flatSchema(args, parts, $defs);
}

async function argumentsOf(
  route: RouteSource,
  params: readonly HandlerParam[],
  place: Place,
  parts: WholePart[],
  $defs: Record<string, unknown>,
): Promise<RouteArgument[]> {
  const found: RouteArgument[] = [];
  const [whole, another] = params.filter(({ data }) => data === undefined);
  if (another && another.metatype !== whole.metatype) {
    throw new Error(
      `two parameters take the whole ${place}, and a tool would check only one: join their classes, as with IntersectionType()`,
    );
  }
  // Without a class, `@Param()` is the variables of the path.
  if (whole && (place !== 'path' || isDto(whole.metatype))) {
    const part = await wholePart(route, whole, place);
    if ('key' in part) found.push(part);
    else {
      parts.push(part);
      found.push(...propertiesOf(part, $defs));
    }
  }
  for (const param of params) {
    if (typeof param.data !== 'string' || found.some(({ key }) => key === param.data)) continue;
    found.push(await namedArgument(route, param, place));
  }
  return found;
}

/** The variables of the path, as far as the parameters describe them. */
function ofPath(route: RouteSource, path: string, found: readonly RouteArgument[]): RouteArgument[] {
  const variables = pathVariables(path);
  const stray = found.find(({ key }) => !variables.some(({ name }) => name === key));
  if (stray) throw new Error(`its path "${path}" has no ":${stray.key}", which a parameter reads`);
  return variables.map(({ name, isRequired }) => {
    const described = found.find(({ key }) => key === name);
    return described ? { ...described, isRequired } : pathVariable(route, name, isRequired);
  });
}

/** The properties of a whole part, which its own schema checks. */
function propertiesOf({ place, schema }: WholePart, $defs: Record<string, unknown>): RouteArgument[] {
  const { jsonSchema } = schema;
  const root = freeKey(place, key => Object.hasOwn($defs, key));
  const { properties = {}, required = [], ...rest } = embedded(jsonSchema, place, $defs, `#/$defs/${root}`);
  if (JSON.stringify([properties, $defs]).includes(`"#/$defs/${root}"`)) {
    $defs[root] = { properties, required, ...rest };
  }
  return Object.entries(properties as Record<string, JsonSchema>).map(([key, property]) => ({
    place,
    key,
    schema: property,
    isRequired: (required as string[]).includes(key),
    isChecked: true,
  }));
}
