import { fill, h, opened } from './dom.js';
import { itemsOf } from './items.js';
import { linkTo, linkToHandler } from './route.js';
import type { State } from './state.js';

interface Entry {
  readonly text: string;
  readonly about: string;
  readonly href: string;
}

const MAX_SHOWN = 12;

/** Finds views, handlers and interceptors by their names, and goes there. */
export async function openPalette(
  state: State,
  views: readonly { readonly link: string; readonly title: string }[],
): Promise<void> {
  if (document.querySelector('.palette')) return;
  const field = h('input', {
    type: 'text',
    role: 'combobox',
    'aria-label': 'Go to',
    'aria-expanded': 'true',
    'aria-controls': 'palette-list',
    autocomplete: 'off',
    placeholder: 'View, handler or interceptor',
  });
  const list = h('ul', { role: 'listbox', id: 'palette-list', 'aria-label': 'Places' });
  const dialog = h('dialog.palette', { 'aria-label': 'Go to' }, field, list);
  let entries: Entry[] = views.map(({ link, title }) => ({
    text: title,
    about: 'view',
    href: linkTo([link]),
  }));
  let shown: Entry[] = [];
  let chosen = 0;
  const go = (entry: Entry | undefined) => {
    if (!entry) return;
    dialog.close();
    location.hash = entry.href;
  };
  const draw = () => {
    const text = field.value.toLowerCase();
    const rank = (entry: Entry) => {
      const place = entry.text.toLowerCase().indexOf(text);
      return place === 0 ? 0 : place > 0 ? 1 : entry.about.toLowerCase().includes(text) ? 2 : 3;
    };
    shown = entries
      .filter(entry => rank(entry) < 3)
      .sort((one, other) => rank(one) - rank(other))
      .slice(0, MAX_SHOWN);
    chosen = Math.min(chosen, Math.max(0, shown.length - 1));
    fill(
      list,
      shown.length === 0
        ? h(
            'li',
            { role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' },
            'Nothing has this name.',
          )
        : shown.map((entry, index) =>
            h(
              'li',
              {
                role: 'option',
                id: `palette-${index}`,
                'aria-selected': String(index === chosen),
                click: () => go(entry),
              },
              h('span', entry.text),
              h('small', entry.about),
            ),
          ),
    );
    field.setAttribute('aria-activedescendant', `palette-${chosen}`);
  };
  field.addEventListener('input', () => {
    chosen = 0;
    draw();
  });
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') go(shown[chosen]);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || shown.length === 0) return;
    event.preventDefault();
    chosen = (chosen + step + shown.length) % shown.length;
    draw();
  });
  draw();
  void opened(dialog);
  const [{ items }, chain] = await Promise.all([itemsOf(state), state.chain().catch(() => undefined)]);
  entries = [
    ...entries,
    ...items.map(({ kind, name, group }) => ({
      text: name,
      about: `${kind} of ${group}`,
      href: linkToHandler(kind, name),
    })),
    ...(chain?.interceptors ?? []).map(({ id, name, type }) => ({
      text: name,
      about: type,
      href: linkTo(['chain', id]),
    })),
  ];
  draw();
}
