import type { InputRequest } from '../api.js';
import { alertOf, code, fill, h, labelled, select } from './dom.js';
import { formOf, type Form } from './schema-form.js';
import type { Answered } from './snippets.js';
import { pretty, textOf, type Json } from './values.js';

/** The input requests of a round as one form. */
export function inputRequestsForm(
  inputRequests: readonly InputRequest[],
  onAnswer: (responses: Json, answers: Answered[]) => void,
): HTMLElement {
  const fields = inputRequests.map(inputRequest => ({ inputRequest, ...fieldOf(inputRequest) }));
  const fault = h('div');
  const form = h(
    'form.stack.asked',
    { novalidate: true },
    ...fields.map(({ element }) => element),
    fault,
    h('button', { type: 'submit', class: 'primary' }, 'Answer'),
  );
  form.addEventListener('submit', event => {
    event.preventDefault();
    try {
      const answers = fields.map(({ inputRequest: { key, method, params }, read }) => ({
        key,
        method,
        message: textOf(params['message'] ?? ''),
        answer: read(),
      }));
      for (const field of form.querySelectorAll('button, input, select, textarea')) {
        field.setAttribute('disabled', '');
      }
      onAnswer(Object.fromEntries(answers.map(({ key, answer }) => [key, answer])), answers);
    } catch (error) {
      fill(fault, alertOf(error));
    }
  });
  return form;
}

function fieldOf({ key, method, params }: InputRequest): Form {
  switch (method) {
    case 'elicitation/create':
      return elicitationField(key, params);
    case 'sampling/createMessage':
      return samplingField(key, params);
    case 'roots/list':
      return rootsField(key);
  }
}

const ACTIONS = [
  ['accept', 'Accept'],
  ['decline', 'Decline'],
  ['cancel', 'Cancel'],
] as const;

const block = (key: string, title: string, ...children: Node[]): HTMLElement =>
  h('fieldset', h('legend', title), h('p.hint', `Key “${key}”`), ...children);

function elicitationField(key: string, params: Json): Form {
  const action = select(ACTIONS);
  const isPage = params['mode'] === 'url';
  const form = isPage ? linkTo(params['url']) : formOf(params['requestedSchema'], 'Answer');
  action.addEventListener('change', () => void (form.element.hidden = action.value !== 'accept'));
  return {
    element: block(key, textOf(params['message'] ?? key), labelled('Action', action), form.element),
    read: () => ({
      action: action.value,
      ...(action.value === 'accept' && !isPage && { content: form.read() ?? {} }),
    }),
  };
}

/** A page to visit: only web pages become links. */
function linkTo(address: unknown): Form {
  const url = textOf(address ?? '');
  const link = /^https?:\/\//i.test(url)
    ? h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, url)
    : h('code', url);
  return { element: h('p', link), read: () => undefined };
}

function samplingField(key: string, params: Json): Form {
  const text = h('textarea', { rows: 4 });
  return {
    element: block(
      key,
      'Answer of the model (sampling)',
      code(pretty(params['messages']), 'Messages to the model'),
      labelled('Text of the model', text),
    ),
    read: () => ({
      role: 'assistant',
      content: { type: 'text', text: text.value },
      model: 'explorer',
      stopReason: 'endTurn',
    }),
  };
}

function rootsField(key: string): Form {
  const uris = h('textarea', { rows: 3 });
  return {
    element: block(key, 'Which folders are open? (roots)', labelled('A file: URI on each line', uris)),
    read: () => ({
      roots: uris.value
        .split('\n')
        .map(uri => uri.trim())
        .filter(uri => uri !== '')
        .map(uri => ({ uri })),
    }),
  };
}
