import { isRecord } from '../../util/is-record.js';

interface SchemaProblem {
  readonly message: string;
  readonly remedy: string;
}

/** The limits of hosts that pass schemas to a model as functions. */
const PROPERTY = /^[\w.-]{1,64}$/;

/** Keywords at the top that turn the arguments into something else than one object. */
const TOP = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'];

/** Keywords that common hosts reject, and what to write instead. */
const KEYWORDS: Readonly<Record<string, string>> = {
  $ref: 'Write the schema in place of the reference.',
  $dynamicRef: 'Write the schema in place of the reference.',
  prefixItems: 'Use "items" with one schema, or an object with named properties.',
  patternProperties: 'Use a list of objects with a name and a value.',
  not: 'Say what is allowed instead, for example with "enum".',
  if: 'Describe the condition, and check it in the handler.',
};

const MAX_DEPTH = 50;
const MAX_PROBLEMS = 20;

/** The constructs of an input schema that common hosts reject, each with its place. */
export function schemaProblems(schema: object): SchemaProblem[] {
  const top = TOP.filter(keyword => keyword in schema).map(keyword => ({
    message: `Some hosts reject "${keyword}" at the top of the input schema`,
    remedy: 'Use one object, with properties that are optional.',
  }));
  return [...top, ...within(schema, '', 0)].slice(0, MAX_PROBLEMS);
}

function* within(node: unknown, path: string, depth: number): Generator<SchemaProblem> {
  if (!isRecord(node) || depth > MAX_DEPTH) return;
  for (const [keyword, remedy] of Object.entries(KEYWORDS)) {
    if (keyword in node && (path !== '' || !TOP.includes(keyword)))
      yield { message: `Some hosts reject "${keyword}"${at(path)}`, remedy };
  }
  if (Array.isArray(node['type'])) {
    yield {
      message: `Some hosts reject a list of types${at(path)}`,
      remedy: 'Name one type; leave the property out if it has no value.',
    };
  }
  const { properties } = node;
  for (const [name, property] of Object.entries(isRecord(properties) ? properties : {})) {
    const place = `${path}/${name}`;
    if (!PROPERTY.test(name)) {
      yield {
        message: `Some hosts reject the property name ${JSON.stringify(name)}${at(path)}`,
        remedy: 'Use 1 to 64 letters, digits, "_", "-" and ".".',
      };
    }
    yield* within(property, place, depth + 1);
  }
  yield* within(node['items'], `${path}/items`, depth + 1);
  yield* within(node['additionalProperties'], `${path}/*`, depth + 1);
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const members = node[keyword];
    for (const member of Array.isArray(members) ? members : []) yield* within(member, path, depth + 1);
  }
}

const at = (path: string): string => (path === '' ? '' : ` at ${path}`);
