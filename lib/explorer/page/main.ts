import type { Catalogue, CatalogueServer } from '../api.js';
import { AppPanel } from './app-panel.js';
import { CallersView } from './callers-view.js';
import { CallView } from './call-view.js';
import { CatalogueView } from './catalogue-view.js';
import { ChainView } from './chain-view.js';
import { get } from './client.js';
import { alertOf, button, fill, h, labelled, select } from './dom.js';
import { FindingsView } from './findings-view.js';
import { LiveView } from './live-view.js';
import { TaskPanel } from './task-panel.js';
import { TasksView } from './tasks-view.js';
import { themeChooser } from './theme.js';
import type { View } from './view.js';

const VIEWS: readonly { readonly id: string; readonly title: string; readonly type: new () => View }[] = [
  { id: 'catalogue', title: 'Catalogue', type: CatalogueView },
  { id: 'chain', title: 'Chain', type: ChainView },
  { id: 'callers', title: 'Callers', type: CallersView },
  { id: 'call', title: 'Call', type: CallView },
  { id: 'tasks', title: 'Tasks', type: TasksView },
  { id: 'live', title: 'Live', type: LiveView },
  { id: 'findings', title: 'Findings', type: FindingsView },
];
for (const { id, type } of VIEWS) customElements.define(`mcp-${id}`, type);
customElements.define('mcp-task', TaskPanel);
customElements.define('mcp-app', AppPanel);

const top = document.getElementById('top')!;
const content = document.getElementById('content')!;
const panel = h('div', { role: 'tabpanel', id: 'panel' });
const tabs = VIEWS.map(({ id, title }) => {
  const tab = button(title, () => void (location.hash = id));
  tab.id = `tab-${id}`;
  tab.setAttribute('role', 'tab');
  tab.setAttribute('aria-controls', 'panel');
  return tab;
});

/** Views keep what was written in them while others are shown. */
let shown = new Map<string, View>();
let server: CatalogueServer | undefined;

function show(): void {
  const index = Math.max(
    0,
    VIEWS.findIndex(({ id }) => id === location.hash.slice(1)),
  );
  for (const [place, tab] of tabs.entries()) {
    tab.setAttribute('aria-selected', String(place === index));
    tab.tabIndex = place === index ? 0 : -1;
  }
  const { id, title, type } = VIEWS[index];
  panel.setAttribute('aria-labelledby', `tab-${id}`);
  document.title = `${title} · MCP explorer`;
  if (!server) return;
  const key = `${id} ${server.name}`;
  const view = shown.get(key) ?? new type();
  view.server = server;
  shown.set(key, view);
  fill(panel, view);
}

/** Arrow keys move between tabs, as in every list of tabs. */
function move(event: KeyboardEvent): void {
  const place = tabs.indexOf(document.activeElement as HTMLButtonElement);
  const next = {
    ArrowRight: (place + 1) % tabs.length,
    ArrowLeft: (place + tabs.length - 1) % tabs.length,
    Home: 0,
    End: tabs.length - 1,
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  tabs[next].focus();
  tabs[next].click();
}

async function load(chooser: HTMLSelectElement): Promise<void> {
  try {
    const { servers } = await get<Catalogue>('catalogue');
    const chosen = chooser.value;
    fill(
      chooser,
      servers.map(({ name, version }) => h('option', { value: name }, `${name} ${version}`)),
    );
    if (servers.some(({ name }) => name === chosen)) chooser.value = chosen;
    const choose = () => {
      server = servers.find(({ name }) => name === chooser.value);
      show();
    };
    chooser.onchange = choose;
    shown = new Map();
    choose();
    if (!server) fill(panel, h('p', 'The application has no MCP server.'));
  } catch (error) {
    fill(panel, alertOf(error));
  }
}

const chooser = select([]);
const list = h('div', { role: 'tablist', 'aria-label': 'Views' }, ...tabs);
list.addEventListener('keydown', move);
top.append(
  h(
    'div.row',
    labelled('Server', chooser),
    labelled('Colours', themeChooser()),
    button('Reload', () => load(chooser)),
  ),
  list,
);
fill(content, panel);
document.getElementById('skip')?.addEventListener('click', event => {
  // The fragment names the view.
  event.preventDefault();
  content.focus();
});
addEventListener('hashchange', show);
void load(chooser);
