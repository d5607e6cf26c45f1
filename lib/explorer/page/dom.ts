import { localTime } from './values.js';

export type Child = Node | string | number | false | null | undefined | readonly Child[];

type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => void)>>;

type Tag = keyof HTMLElementTagNameMap;
type Named<S extends string> = S extends `${infer T extends Tag}.${string}` ? T : S;

/**
 * Builds an element: `h('p.hint', { id: 'x' }, 'text')`, with attributes or without. Texts of a server only become text
 * nodes: nothing here reads HTML. A function is an event's listener, and `true` an attribute without a value.
 */
export function h<S extends Tag | `${Tag}.${string}`>(
  selector: S,
  ...parts: [Attributes, ...Child[]] | Child[]
): HTMLElementTagNameMap[Named<S> & Tag] {
  const [tag, ...classes] = selector.split('.');
  const [first, ...rest] = parts;
  const attributes = isAttributes(first) ? first : {};
  const element = document.createElement(tag) as HTMLElementTagNameMap[Named<S> & Tag];
  element.classList.add(...classes);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...nodes((attributes === first ? rest : parts) as Child[]));
  return element;
}

const isAttributes = (part: Attributes | Child): part is Attributes =>
  typeof part === 'object' && part !== null && !(part instanceof Node) && !Array.isArray(part);

const nodes = (children: readonly Child[]): (Node | string)[] =>
  ((children as readonly unknown[]).flat(Infinity) as Exclude<Child, readonly Child[]>[])
    .filter(child => child !== undefined && child !== null && child !== false)
    .map(child => (typeof child === 'number' ? String(child) : child));

export const fill = (element: Element, ...children: Child[]): void =>
  element.replaceChildren(...nodes(children));

/** Scrolls a list until an element is in the middle, unless it is in sight. */
export function reveal(element: Element | null, list: Element): void {
  if (!element) return;
  const [own, whole] = [element.getBoundingClientRect(), list.getBoundingClientRect()];
  const isInSight = own.top >= whole.top + own.height && own.bottom <= whole.bottom;
  if (!isInSight) element.scrollIntoView({ block: 'center' });
}

let ids = 0;
export const newId = (): string => `e${(ids += 1)}`;

export function labelled(
  text: string,
  field: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement,
  hint?: string,
): HTMLElement {
  field.id ||= newId();
  const hintId = hint === undefined ? undefined : newId();
  if (hintId) field.setAttribute('aria-describedby', hintId);
  return h(
    'div.field',
    h('label', { for: field.id }, text),
    field,
    hintId && h('p.hint', { id: hintId }, hint),
  );
}

/** @param label for a field without one beside it */
export const select = (
  options: readonly (readonly [value: string, text: string])[],
  label?: string,
): HTMLSelectElement =>
  h(
    'select',
    { 'aria-label': label },
    options.map(([value, text]) => h('option', { value }, text)),
  );

export const button = (text: string, onClick: () => unknown, kind = ''): HTMLButtonElement =>
  h('button', { type: 'button', class: kind, click: () => void onClick() }, text);

/** An ISO 8601 time, as people of this browser read it. */
export const time = (at: string): HTMLElement => h('time.number', { datetime: at }, localTime(at));

/** A small word with a colour. */
export const badge = (text: string, kind = ''): HTMLElement => h('span', { class: `badge ${kind}` }, text);

export const isFailure = (outcome: string): boolean => !['ok', 'result', 'asked', 'task'].includes(outcome);

export const outcomeBadge = (outcome: string): HTMLElement =>
  badge(outcome === 'asked' ? 'input required' : outcome, isFailure(outcome) ? 'deny' : 'pass');

/** A link in a list of places. */
export const placeLink = (href: string, isCurrent: boolean, ...children: Child[]): HTMLAnchorElement =>
  h('a', { href, 'aria-current': isCurrent ? 'page' : undefined }, ...children);

/** A number in a list of figures. */
export const figure = (term: string, value: Child): HTMLElement =>
  h('div', h('dt', term), h(value === 0 ? 'dd.number.none' : 'dd.number', value));

/** Text that scrolls by itself, reachable by keyboard. */
export const code = (text: string, label: string): HTMLElement =>
  h('pre', { tabindex: 0, role: 'group', 'aria-label': label }, text);

/** A table that scrolls by itself if the window is narrow. The first column heads its row; columns of numbers end at the right. */
export function table<Row>(
  caption: string,
  columns: Readonly<Record<string, (row: Row, index: number) => Child>>,
  rows: readonly Row[],
): HTMLElement {
  const cells = (row: Row, index: number) =>
    Object.values(columns).map((cell, place) =>
      place === 0 ? h('th', { scope: 'row' }, cell(row, index)) : h('td', cell(row, index)),
    );
  const lines = rows.map((row, index) => h('tr', cells(row, index)));
  const titles = Object.keys(columns).map(title => h('th', { scope: 'col' }, title));
  titles.forEach((title, place) => {
    const column = lines.map(line => line.children[place]);
    const isOfNumbers =
      column.length > 0 && column.every(cell => cell.matches('td:has(> span.number:only-child)'));
    if (isOfNumbers) for (const cell of [title, ...column]) cell.classList.add('right');
  });
  return h(
    'div.scroll',
    { tabindex: 0, role: 'group', 'aria-label': caption },
    h('table', h('caption', caption), h('thead', h('tr', ...titles)), h('tbody', lines)),
  );
}

let hiding: ReturnType<typeof setTimeout> | undefined;

/** Tells screen readers what the page shows anyway. */
export function announce(text: string): void {
  const status = document.getElementById('status');
  if (status) status.textContent = text;
}

/** Tells screen readers, and shows for a moment. */
export function flash(text: string): void {
  announce(text);
  const status = document.getElementById('status');
  status?.classList.remove('hidden');
  clearTimeout(hiding);
  hiding = setTimeout(() => status?.classList.add('hidden'), 3000);
}

export function alertOf(error: unknown): HTMLElement {
  return h('p.alert', { role: 'alert' }, error instanceof Error ? error.message : String(error));
}

/** Stands where something could not be loaded. */
export const failure = (error: unknown, again: () => unknown): HTMLElement =>
  h('div.stack', alertOf(error), button('Try again', again));

/** Copies a text, and says so. Browsers allow it on secure origins only. */
export async function copy(text: string, subject: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    flash(`${subject} copied`);
  } catch {
    flash('The browser does not allow copying here: select the text');
  }
}

/** Opens a dialog over the page. Resolves with its return value once it is closed. */
export function opened(dialog: HTMLDialogElement): Promise<string> {
  document.getElementById('content')?.append(dialog);
  dialog.showModal();
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

/** Asks before something happens that may not be undone. */
export async function confirmed(question: string, verb: string): Promise<boolean> {
  const id = newId();
  const cancel = h('button', { type: 'button', autofocus: true, click: () => dialog.close() }, 'Cancel');
  const confirm = button(verb, () => dialog.close('yes'), 'danger');
  const dialog: HTMLDialogElement = h(
    'dialog',
    { 'aria-labelledby': id },
    h('p', { id }, question),
    h('div.row', cancel, confirm),
  );
  return (await opened(dialog)) === 'yes';
}

/** What the browser has kept for the page, if it keeps anything. */
export function stored(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text, or forgets it. A browser that stores nothing keeps nothing. */
export function store(key: string, text?: string): void {
  try {
    if (text === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    return;
  }
}
