import { button, fill, h, labelled, select } from './dom.js';
import { limitsOf, resolve, typeOf } from './schema-view.js';
import { isList, isRecord, pretty, textOf, type Json } from './values.js';

/** Fields for a value. An empty field is left out of the value; an empty text is written as JSON. */
export interface Form {
  readonly element: HTMLElement;
  /** @throws Error that names the field, if its text is not JSON */
  readonly read: () => unknown;
}

/** Keyboards of phones, by format. An input of the type `email` or `url` would change what is written. */
const KEYBOARDS: Readonly<Record<string, string>> = { email: 'email', uri: 'url' };

/**
 * A form for an object's schema, with a switch to write it as JSON. The server checks the values.
 * @param given the value that fills it. Default: the defaults of the schema
 */
export function formOf(schema: unknown, legend: string, given?: unknown): Form {
  const root = isRecord(schema) ? schema : {};
  const properties = resolve(root, root)['properties'];
  if (!isRecord(properties) || Object.keys(properties).length === 0) return emptyOrJson(root, legend, given);
  const fields = objectForm(isRecord(given) ? filled(root, given) : root, root, legend);
  const json = jsonForm(`${legend} as JSON`, given ?? {});
  // A form cannot show every value, such as a field that the schema does not have.
  const isWhole =
    given === undefined || JSON.stringify(sorted(readOr(fields, {}))) === JSON.stringify(sorted(given));
  let current: Form = isWhole ? fields : json;
  const place = h('div', current.element);
  const toggle = button(isWhole ? 'Write as JSON' : 'Fill in a form', () => {
    const isToJson = current === fields;
    if (isToJson) json.write(readOr(fields, {}));
    current = isToJson ? json : fields;
    toggle.textContent = isToJson ? 'Fill in a form' : 'Write as JSON';
    fill(place, current.element);
  });
  toggle.classList.add('small');
  return { element: h('div', place, toggle), read: () => current.read() };
}

/** The schema with the given values as its defaults; fields without a value have none. */
function filled(root: Json, given: Json): Json {
  const own = resolve(root, root);
  const properties = Object.entries(own['properties'] as Json).map(([name, field]) => {
    const { default: _, ...schema } = isRecord(field) ? resolve(field, root) : {};
    const value = given[name];
    const isFilled = isRecord(value) && isRecord(schema['properties']);
    return [
      name,
      value === undefined ? schema : isFilled ? filled(schema, value) : { ...schema, default: value },
    ];
  });
  return { ...own, properties: Object.fromEntries(properties) };
}

const sorted = (value: unknown): unknown =>
  isRecord(value) ? Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)) : value;

function readOr(form: Form, fallback: unknown): unknown {
  try {
    return form.read();
  } catch {
    return fallback;
  }
}

function emptyOrJson(root: Json, legend: string, given: unknown = {}): Form {
  const isOpen = isRecord(root['additionalProperties']) || !('properties' in root) || 'anyOf' in root;
  if (isOpen && root['type'] !== undefined) return jsonForm(`${legend} as JSON`, given);
  return { element: h('p.hint', `${legend}: none`), read: () => ({}) };
}

function jsonForm(label: string, value: unknown, hint?: string): Form & { write(value: unknown): void } {
  const area = h('textarea', { rows: 5, spellcheck: 'false' }, pretty(value));
  return {
    element: labelled(label, area, hint),
    read: () => {
      if (area.value.trim() === '') return undefined;
      try {
        return JSON.parse(area.value) as unknown;
      } catch {
        throw new Error(`${label}: this is not JSON`);
      }
    },
    write: next => void (area.value = pretty(next)),
  };
}

function objectForm(schema: Json, root: Json, legend: string): Form {
  const own = resolve(schema, root);
  const required = Array.isArray(own['required']) ? own['required'] : [];
  const properties = isRecord(own['properties']) ? own['properties'] : {};
  const fields = Object.entries(properties).map(([name, field]) => {
    const isRequired = required.includes(name);
    return { name, isRequired, form: fieldForm(name, isRecord(field) ? field : {}, root, isRequired) };
  });
  return {
    element: h('fieldset', h('legend', legend), ...fields.map(({ form }) => form.element)),
    read: () => {
      const entries = fields.map(({ name, form }) => [name, form.read()] as const);
      const present = entries.filter(([, value]) => value !== undefined);
      return Object.fromEntries(present);
    },
  };
}

function fieldForm(name: string, field: Json, root: Json, isRequired: boolean): Form {
  const own = resolve(field, root);
  const title = typeof own['title'] === 'string' ? own['title'] : name;
  const label = isRequired ? `${title} (required)` : title;
  const hint = hintOf({ ...own, description: field['description'] ?? own['description'] });
  const choices = choicesOf(own);
  if (choices) return choiceForm(label, choices, own['default'], hint);
  const items = isRecord(own['items']) ? choicesOf(resolve(own['items'], root)) : undefined;
  if (items) return manyForm(label, items, own['default'], hint, isRequired);
  switch (own['type']) {
    case 'boolean':
      return choiceForm(label, [true, false].map(asChoice), own['default'], hint);
    case 'string':
      return textForm(label, own, hint);
    case 'integer':
    case 'number':
      return numberForm(label, own, hint);
    case 'object':
      return isRecord(own['properties']) && isRequired
        ? objectForm(own, root, label)
        : jsonField(label, own, hint);
    default:
      return jsonField(label, own, hint);
  }
}

/** The description, and what the field does not show of the type and its limits. The server checks them. */
function hintOf(schema: Json): string | undefined {
  const { type, format, description } = schema;
  const isNamed = type === 'integer' || type === 'number' || type === 'boolean';
  // Beside a format, libraries write its pattern, which is long.
  const limits = limitsOf(format === undefined ? schema : { ...schema, pattern: undefined });
  const asked = [isNamed ? typeOf(schema) : format, ...limits];
  const texts = [description, asked.filter(text => typeof text === 'string').join(', ')];
  return texts.filter(text => typeof text === 'string' && text !== '').join(' · ') || undefined;
}

const jsonField = (label: string, schema: Json, hint?: string): Form => {
  const form = jsonForm(`${label} as JSON, ${typeOf(schema)}`, schema['default'], hint);
  if (schema['default'] === undefined) form.element.querySelector('textarea')!.value = '';
  return form;
};

function textForm(label: string, schema: Json, hint?: string): Form {
  const format = String(schema['format']);
  const input = h('input', {
    type: format === 'date' ? 'date' : 'text',
    inputmode: KEYBOARDS[format],
    value: schema['default'] === undefined ? '' : textOf(schema['default']),
    autocomplete: 'off',
  });
  return {
    element: labelled(label, input, hint),
    read: () => (input.value === '' ? undefined : input.value),
  };
}

function numberForm(label: string, schema: Json, hint?: string): Form {
  const number = (keyword: string) => {
    const value = schema[keyword];
    return typeof value === 'number' ? value : undefined;
  };
  // The form has `novalidate`: bounds only guide the arrows of the field.
  const input = h('input', {
    type: 'number',
    step: 'any',
    min: number('minimum'),
    max: number('maximum'),
    value: number('default'),
  });
  return {
    element: labelled(label, input, hint),
    read: () => (input.value === '' ? undefined : Number(input.value)),
  };
}

interface Choice {
  readonly value: unknown;
  readonly text: string;
}

const asChoice = (value: unknown): Choice => ({ value, text: textOf(value) });

/** `enum`, with the names of `enumNames`, or `oneOf` and `anyOf` of constants with titles. */
function choicesOf(schema: Json): Choice[] | undefined {
  const { enum: values, enumNames: names } = schema;
  if (isList(values)) {
    return values.map((value, index) => ({
      value,
      text: isList(names) ? textOf(names[index]) : textOf(value),
    }));
  }
  const branches = schema['oneOf'] ?? schema['anyOf'];
  if (!isList(branches) || !branches.every(branch => isRecord(branch) && 'const' in branch)) {
    return undefined;
  }
  return branches
    .filter(isRecord)
    .map(branch => ({ value: branch['const'], text: textOf(branch['title'] ?? branch['const']) }));
}

function choiceForm(label: string, choices: readonly Choice[], preset: unknown, hint?: string): Form {
  const field = select([['', '–'], ...choices.map(({ text }, index) => [String(index), text] as const)]);
  const index = choices.findIndex(({ value }) => value === preset);
  if (index >= 0) field.value = String(index);
  return {
    element: labelled(label, field, hint),
    read: () => (field.value === '' ? undefined : choices[Number(field.value)].value),
  };
}

function manyForm(
  label: string,
  choices: readonly Choice[],
  preset: unknown,
  hint: string | undefined,
  isRequired: boolean,
): Form {
  const isPreset = (value: unknown) => Array.isArray(preset) && preset.includes(value);
  const boxes = choices.map(({ value, text }) => {
    const box = h('input', { type: 'checkbox', checked: isPreset(value) });
    return { box, value, element: h('label.check', box, ' ', text) };
  });
  return {
    element: h(
      'fieldset',
      h('legend', label),
      hint && h('p.hint', hint),
      ...boxes.map(({ element }) => element),
    ),
    read: () => {
      const chosen = boxes.filter(({ box }) => box.checked).map(({ value }) => value);
      return chosen.length > 0 || isRequired ? chosen : undefined;
    },
  };
}
