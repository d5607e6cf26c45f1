import { compileSchema } from '../../schema/compile-schema.js';
import { failure, success } from '../../schema/result.js';
import type { CompiledSchema, JsonSchema, SchemaIssue } from '../../schema/types.js';
import { isRecord } from '../../util/is-record.js';
import type { NamedArgument, RouteInput, WholePart } from './route-types.js';

/** Keywords with which a schema says more than its properties do. */
const UNIONS = ['anyOf', 'oneOf', 'allOf', 'if', '$ref'];

/** Joins the arguments of a route to one object, with a check of what its pipes do not check. */
export async function flatSchema(
  args: readonly NamedArgument[],
  parts: readonly WholePart[],
  $defs: JsonSchema,
): Promise<RouteInput> {
  const union = parts.find(({ schema }) => UNIONS.some(keyword => keyword in schema.jsonSchema));
  if (union) return onlyPart(union, args, parts);
  const open = parts.find(({ schema }) => schema.jsonSchema['additionalProperties'] !== false);
  const object = (schemaOf: (arg: NamedArgument) => JsonSchema, required: readonly NamedArgument[]) =>
    compileSchema(
      {
        type: 'object',
        properties: Object.fromEntries(args.map(arg => [arg.name, schemaOf(arg)])),
        ...(required.length > 0 && { required: required.map(({ name }) => name) }),
        ...(!open && { additionalProperties: false }),
        ...(Object.keys($defs).length > 0 && { $defs }),
      },
      'input',
    );
  const shown = await object(
    ({ schema }) => schema,
    args.filter(({ isRequired }) => isRequired),
  );
  const own = args.filter(({ isChecked }) => !isChecked);
  const checked = await object(
    ({ isChecked, check, schema }) => (isChecked || check ? {} : schema),
    own.filter(({ isRequired }) => isRequired),
  );
  return {
    ...(parts.length === 1 && parts[0].source && { source: parts[0].source }),
    schema: {
      jsonSchema: shown.jsonSchema,
      validate: value => validate(value, { checked, own, args, parts, open: open?.place }),
    },
    args,
    ...(open && { rest: open.place }),
  };
}

/** Checks a value, but does not convert it. */
export const asGiven =
  (schema: CompiledSchema): CompiledSchema['validate'] =>
  async value => {
    const result = await schema.validate(value);
    return result.ok ? success(value) : result;
  };

/** A schema that is a union can only stand alone. */
function onlyPart(
  { place, schema, check, source }: WholePart,
  args: readonly NamedArgument[],
  parts: readonly WholePart[],
): RouteInput {
  if (parts.length > 1 || args.some(arg => arg.place !== place)) {
    throw new Error(
      'the schema of its query or body is a union, which cannot be joined with other parameters: declare "inputSchema"',
    );
  }
  return {
    ...(source && { source }),
    schema: { jsonSchema: schema.jsonSchema, validate: check ? asGiven(check) : success },
    args: [],
    rest: place,
  };
}

interface Checks {
  readonly checked: CompiledSchema;
  readonly own: readonly NamedArgument[];
  readonly args: readonly NamedArgument[];
  readonly parts: readonly WholePart[];
  /** The part that takes further arguments. */
  readonly open: WholePart['place'] | undefined;
}

async function validate(value: unknown, { checked, own, args, parts, open }: Checks) {
  const result = await checked.validate(value);
  if (!result.ok || !isRecord(value)) return result;
  const issues: SchemaIssue[] = [];
  for (const { name, check } of own) {
    if (!check || !Object.hasOwn(value, name)) continue;
    issues.push(...(await issuesOf(check, value[name], path => (path ? `${name}.${path}` : name))));
  }
  for (const { place, check } of parts) {
    if (!check) continue;
    const names = new Map(
      args.filter(arg => arg.place === place).map(({ key, name }) => [key ?? name, name]),
    );
    const given = [...names].filter(([, name]) => Object.hasOwn(value, name));
    const known = new Set(args.map(({ name }) => name));
    const further = place === open ? Object.entries(value).filter(([name]) => !known.has(name)) : [];
    const part = Object.fromEntries([...further, ...given.map(([key, name]) => [key, value[name]] as const)]);
    issues.push(...(await issuesOf(check, part, path => renamed(path, names))));
  }
  return issues.length > 0 ? failure(issues) : success(value);
}

async function issuesOf(
  schema: CompiledSchema,
  value: unknown,
  pathOf: (path: string) => string,
): Promise<SchemaIssue[]> {
  const result = await schema.validate(value);
  return result.ok ? [] : result.issues.map(issue => ({ ...issue, path: pathOf(issue.path) }));
}

/** The path with the name of the argument in place of the property's. */
function renamed(path: string, names: ReadonlyMap<string, string>): string {
  const [key] = path.split(/[.[]/, 1);
  return (names.get(key) ?? key) + path.slice(key.length);
}
