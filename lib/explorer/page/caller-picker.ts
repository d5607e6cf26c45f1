import type { Caller } from '../api.js';
import { h, labelled, newId } from './dom.js';

const TEXTS: Readonly<Record<Caller['kind'], string>> = {
  anonymous: 'Anonymous',
  token: 'A token',
  synthetic: 'Synthetic scopes and roles',
};

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(word => word !== '');

/** Chooses who calls. The page keeps a token in its field only. */
export class CallerPicker<Kind extends Caller['kind']> {
  readonly element: HTMLElement;
  private readonly radios = new Map<Kind, HTMLInputElement>();
  private readonly token = h('input', { type: 'password', autocomplete: 'off', spellcheck: 'false' });
  private readonly scopes = h('input', { type: 'text', autocomplete: 'off' });
  private readonly roles = h('input', { type: 'text', autocomplete: 'off' });

  /** @param onChange is told when another kind is chosen, or a token was written */
  constructor(kinds: readonly Kind[], onChange: () => void = () => {}) {
    const group = newId();
    const fields: Readonly<Record<Caller['kind'], HTMLElement>> = {
      anonymous: h('div'),
      token: labelled('Bearer token', this.token, 'It is sent as “Authorization: Bearer”, and not kept.'),
      synthetic: h(
        'div.row',
        labelled('Scopes', this.scopes, 'Separated by spaces.'),
        labelled('Roles', this.roles, 'Separated by spaces.'),
      ),
    };
    const show = () => {
      for (const kind of kinds) fields[kind].hidden = !this.radios.get(kind)?.checked;
    };
    for (const kind of kinds) {
      const radio = h('input', {
        type: 'radio',
        name: group,
        id: newId(),
        checked: kind === kinds[0],
        change: () => {
          show();
          if (kind !== 'token') onChange();
        },
      });
      this.radios.set(kind, radio);
    }
    this.token.addEventListener('change', onChange);
    show();
    this.element = h(
      'fieldset',
      h('legend', 'Caller'),
      h(
        'div.row',
        [...this.radios].map(([kind, radio]) => h('label.check', { for: radio.id }, radio, ' ', TEXTS[kind])),
      ),
      ...kinds.map(kind => fields[kind]),
    );
  }

  /** @throws Error for a token that was not pasted yet */
  get value(): Extract<Caller, { kind: Kind }> {
    const kind = [...this.radios].find(([, radio]) => radio.checked)?.[0];
    const token = this.token.value.trim();
    if (kind === 'token' && token === '') throw new Error('Paste a token first');
    const caller: Caller =
      kind === 'token'
        ? { kind, token }
        : kind === 'synthetic'
          ? { kind, scopes: wordsOf(this.scopes.value), roles: wordsOf(this.roles.value) }
          : { kind: 'anonymous' };
    return caller as Extract<Caller, { kind: Kind }>;
  }
}
