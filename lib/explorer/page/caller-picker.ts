import type { Caller, CatalogueServer } from '../api.js';
import { alertOf, button, fill, h, labelled, newId, select } from './dom.js';

const KINDS = [
  ['anonymous', 'Anonymous', 'Calls without a token.'],
  ['token', 'A token', 'Lists and calls as the owner of a token.'],
  ['synthetic', 'Synthetic scopes and roles', 'Sees lists and calls nothing. It skips the token check.'],
] as const;

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(word => word !== '');

interface Chosen {
  readonly caller: Caller;
  readonly revision: string;
  readonly part: string;
}

/** Asks who calls, and in which revision. The page keeps a token in memory only. */
export function chooseCaller(
  { revisions, parts }: CatalogueServer,
  { caller, revision, part }: Chosen,
): Promise<Chosen | undefined> {
  const token = h('input', {
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    value: caller.kind === 'token' ? caller.token : '',
  });
  const of = (key: 'scopes' | 'roles') => (caller.kind === 'synthetic' ? caller[key].join(' ') : '');
  const scopes = h('input', { type: 'text', autocomplete: 'off', value: of('scopes') });
  const roles = h('input', { type: 'text', autocomplete: 'off', value: of('roles') });
  const fields: Readonly<Record<Caller['kind'], HTMLElement | undefined>> = {
    anonymous: undefined,
    token: labelled('Bearer token', token, 'It is sent as “Authorization: Bearer”, and not kept.'),
    synthetic: h(
      'div',
      labelled('Scopes', scopes, 'Separated by spaces.'),
      labelled('Roles', roles, 'Separated by spaces.'),
    ),
  };
  let kind = caller.kind;
  const show = () => {
    for (const [name, field] of Object.entries(fields)) if (field) field.hidden = name !== kind;
  };
  const group = newId();
  const radios = KINDS.map(([value, text, hint]) => {
    const id = newId();
    const change = () => {
      kind = value;
      show();
    };
    const radio = h('input', { type: 'radio', name: group, id, checked: value === kind, change });
    return h('div', h('label.check', { for: id }, radio, text), h('p.hint', hint), fields[value]);
  });
  show();
  const revisionField = select(revisions.map(value => [value, value] as const));
  revisionField.value = revision;
  const partField = select([
    ['', 'The whole server'] as const,
    ...parts.map(value => [value, value] as const),
  ]);
  partField.value = part;
  const fault = h('div');
  const title = newId();
  const form = h(
    'form',
    h('h2', { id: title }, 'Caller'),
    h('fieldset', h('legend', 'Who calls'), ...radios),
    labelled('Protocol revision', revisionField),
    parts.length > 0 && labelled('Part of the server', partField),
    fault,
    h(
      'div.row',
      button('Cancel', () => dialog.close()),
      h('button', { type: 'submit', class: 'primary' }, 'Use this caller'),
    ),
  );
  const dialog: HTMLDialogElement = h('dialog.caller', { 'aria-labelledby': title }, form);
  const chosen = (): Caller => {
    if (kind === 'synthetic') return { kind, scopes: wordsOf(scopes.value), roles: wordsOf(roles.value) };
    if (kind === 'anonymous') return { kind };
    if (token.value.trim() === '') throw new Error('Paste a token first');
    return { kind, token: token.value.trim() };
  };
  document.getElementById('content')?.append(dialog);
  dialog.showModal();
  return new Promise(resolve => {
    form.addEventListener('submit', event => {
      event.preventDefault();
      try {
        resolve({ caller: chosen(), revision: revisionField.value, part: partField.value });
        dialog.close();
      } catch (error) {
        fill(fault, alertOf(error));
      }
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(undefined);
    });
  });
}
