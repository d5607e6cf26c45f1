import type { Caller, CatalogueServer } from '../api.js';
import { alertOf, button, fill, h, labelled, newId, opened, select } from './dom.js';

const KINDS = [
  ['anonymous', 'Anonymous', 'Calls without a token.'],
  ['token', 'A token', 'Lists and calls as the owner of a token.'],
  ['synthetic', 'Synthetic scopes and roles', 'Sees lists and calls nothing. It skips the token check.'],
] as const;

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(word => word !== '');

const textField = (value: string, type = 'text'): HTMLInputElement =>
  h('input', { type, value, autocomplete: 'off', spellcheck: 'false' });

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
  const token = textField(caller.kind === 'token' ? caller.token : '', 'password');
  const [scopes, roles] = (['scopes', 'roles'] as const).map(key =>
    textField(caller.kind === 'synthetic' ? caller[key].join(' ') : ''),
  );
  const fields: Readonly<Record<Caller['kind'], Node | undefined>> = {
    anonymous: undefined,
    token: labelled('Bearer token', token, 'It is sent as “Authorization: Bearer”, and not kept.'),
    synthetic: h(
      'div',
      labelled('Scopes', scopes, 'Separated by spaces.'),
      labelled('Roles', roles, 'Separated by spaces.'),
    ),
  };
  const radios = KINDS.map(([value, text, hint]) => {
    const radio = h('input', { type: 'radio', name: 'kind', value, checked: value === caller.kind });
    return h('div.choice', h('label.check', radio, text), h('p.hint', hint), fields[value]);
  });
  const revisionField = select(revisions.map(value => [value, value] as const));
  revisionField.value = revision;
  const partField = select([['', 'The whole server'], ...parts.map(value => [value, value] as const)]);
  partField.value = part;
  const fault = h('div');
  const title = newId();
  let choose: (chosen: Chosen | undefined) => void;
  const submit = (event: Event) => {
    event.preventDefault();
    try {
      // First, because a dialog tells later that it is closed: the page shows the chosen caller at once.
      choose({ caller: read(), revision: revisionField.value, part: partField.value });
      dialog.close();
    } catch (error) {
      fill(fault, alertOf(error));
    }
  };
  const form: HTMLFormElement = h(
    'form',
    { submit },
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
  const read = (): Caller => {
    const kind = new FormData(form).get('kind') as Caller['kind'];
    if (kind === 'synthetic') return { kind, scopes: wordsOf(scopes.value), roles: wordsOf(roles.value) };
    if (kind === 'anonymous') return { kind };
    if (token.value.trim() === '') throw new Error('Paste a token first');
    return { kind, token: token.value.trim() };
  };
  const dialog: HTMLDialogElement = h('dialog.caller', { 'aria-labelledby': title }, form);
  return new Promise(resolve => {
    choose = resolve;
    void opened(dialog).then(() => resolve(undefined));
  });
}
