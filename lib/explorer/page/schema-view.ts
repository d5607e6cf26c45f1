import { h, type Child } from './dom.js';
import { count, isRecord, textOf, type Json } from './values.js';

/** Deeper than this, a schema is shown as JSON only. */
const MAX_DEPTH = 8;

/** A JSON Schema as nested lists of fields. */
export function schemaView(schema: unknown): HTMLElement {
  const root = isRecord(schema) ? schema : {};
  const fields = fieldsOf(root, root, []);
  return fields ?? h('p.hint', `No fields: ${typeOf(resolve(root, root))}`);
}

export function resolve(schema: Json, root: Json): Json {
  let current = schema;
  for (let hops = 0; hops < MAX_DEPTH && typeof current['$ref'] === 'string'; hops++) {
    const path = current['$ref'].split('/').slice(1);
    const target = path.reduce<unknown>(
      (place, key) => (isRecord(place) ? place[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
      root,
    );
    if (!isRecord(target)) return current;
    current = target;
  }
  return current;
}

/** @param above the schemas that this one is in */
function fieldsOf(schema: Json, root: Json, above: readonly Json[]): HTMLElement | undefined {
  const own = resolve(schema, root);
  if (above.includes(own)) return h('p.hint', 'The same fields as above.');
  if (above.length > MAX_DEPTH) return h('p.hint', 'Deeper fields are in the JSON.');
  const path = [...above, own];
  const required = Array.isArray(own['required']) ? own['required'] : [];
  const rows: Child[] = [];
  if (isRecord(own['properties'])) {
    for (const [name, field] of Object.entries(own['properties'])) {
      rows.push(fieldView(name, isRecord(field) ? field : {}, root, path, required.includes(name)));
    }
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const branches = own[keyword];
    if (!Array.isArray(branches)) continue;
    for (const [index, branch] of branches.filter(isRecord).entries()) {
      rows.push(fieldView(`${keyword} ${index + 1}`, branch, root, path));
    }
  }
  if (isRecord(own['items'])) rows.push(fieldView('each item', own['items'], root, path));
  if (isRecord(own['additionalProperties'])) {
    rows.push(fieldView('any other field', own['additionalProperties'], root, path));
  }
  return rows.length > 0 ? h('ul.fields', ...rows) : undefined;
}

function fieldView(
  name: string,
  field: Json,
  root: Json,
  above: readonly Json[],
  isRequired = false,
): HTMLElement {
  const own = resolve(field, root);
  const description = field['description'] ?? own['description'];
  return h(
    'li',
    h('code', name),
    ' ',
    h('span.type', [typeOf(own), ...limitsOf(own), ...sentencesOf(own, NOTES)].join(', ')),
    isRequired && h('strong.required', ' required'),
    typeof description === 'string' && h('p.hint', description),
    fieldsOf(own, root, above),
  );
}

export function typeOf(schema: Json): string {
  const { type, format } = schema;
  if (Array.isArray(schema['enum'])) return `one of ${schema['enum'].map(textOf).join(', ')}`;
  if ('const' in schema) return textOf(schema['const']);
  const name = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any';
  return typeof format === 'string' ? `${name} (${format})` : name;
}

type Sentences = Readonly<Record<string, (value: string) => string>>;

const LIMITS: Sentences = {
  minLength: value => `at least ${count(Number(value), 'character')}`,
  maxLength: value => `at most ${count(Number(value), 'character')}`,
  minimum: value => `≥ ${value}`,
  exclusiveMinimum: value => `> ${value}`,
  maximum: value => `≤ ${value}`,
  exclusiveMaximum: value => `< ${value}`,
  multipleOf: value => `multiple of ${value}`,
  pattern: value => `matches ${value}`,
  minItems: value => `at least ${count(Number(value), 'item')}`,
  maxItems: value => `at most ${count(Number(value), 'item')}`,
};

const NOTES: Sentences = {
  default: value => `default ${value}`,
  'x-mcp-header': value => `also sent as Mcp-Param-${value}`,
};

/** What a value must keep to, besides its type: `≥ 1`. */
export const limitsOf = (schema: Json): string[] => sentencesOf(schema, LIMITS);

/** Libraries write the bounds of safe integers for every integer. */
const isSafeBound = (value: unknown): boolean => Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;

const sentencesOf = (schema: Json, sentences: Sentences): string[] =>
  Object.entries(sentences)
    .filter(([keyword]) => schema[keyword] !== undefined && !isSafeBound(schema[keyword]))
    .map(([keyword, text]) => text(textOf(schema[keyword])));
