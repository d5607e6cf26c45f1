import { h, labelled } from './dom.js';
import type { Item } from './items.js';
import { formOf, type Form } from './schema-form.js';
import { isRecord, textOf, type Json } from './values.js';

/** How a handler is called: its method, a form for its arguments, and its params. */
export interface Callable {
  readonly method: string;
  readonly form: Form;
  /** What a call may do; `null` for a handler that only reads. */
  readonly danger: string | null;
  /** @throws Error for an argument that is not JSON */
  readonly params: () => Json;
}

/** @param args the arguments that fill the form */
export function callableOf({ kind, name, listed = {} }: Item, args?: unknown): Callable {
  switch (kind) {
    case 'tool':
    case 'prompt': {
      const isTool = kind === 'tool';
      const form = formOf(isTool ? listed['inputSchema'] : promptSchema(listed), 'Arguments', args);
      return {
        method: isTool ? 'tools/call' : 'prompts/get',
        form,
        danger: isTool ? dangerOf(listed) : null,
        params: () => ({ name, arguments: form.read() ?? {} }),
      };
    }
    case 'resource template': {
      const value = typeof args === 'string' ? args : name;
      const uri = h('input', { type: 'text', value, autocomplete: 'off' });
      const form = { element: labelled('URI', uri, `By the template ${name}`), read: () => uri.value };
      return { method: 'resources/read', form, danger: null, params: () => ({ uri: uri.value }) };
    }
    case 'method': {
      const form = formOf(listed['inputSchema'] ?? { type: 'object' }, 'Params', args);
      return {
        method: name,
        form,
        danger: 'It may change something',
        params: () => {
          const value = form.read();
          return isRecord(value) ? value : {};
        },
      };
    }
    default: {
      const form = { element: h('p.hint', 'No arguments'), read: () => undefined };
      return { method: 'resources/read', form, danger: null, params: () => ({ uri: name }) };
    }
  }
}

function promptSchema({ arguments: list }: Json): Json {
  const fields = Array.isArray(list) ? list.filter(isRecord) : [];
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, description, title }) => [textOf(name), { type: 'string', description, title }]),
    ),
    required: fields.filter(({ required }) => required === true).map(({ name }) => textOf(name)),
  };
}

/** What a call of a tool may do. `null` for a tool that only reads. */
export function dangerOf({ annotations }: Json): string | null {
  const hints = isRecord(annotations) ? annotations : {};
  if (hints['readOnlyHint'] === true) return null;
  return hints['destructiveHint'] === true
    ? 'It may destroy something'
    : 'It may change something (no readOnlyHint)';
}
