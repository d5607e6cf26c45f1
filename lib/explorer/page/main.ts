import type { Caller, Catalogue, CatalogueServer } from '../api.js';
import { AccessView } from './access-view.js';
import { AppPanel } from './app-panel.js';
import { CallPanel } from './call-panel.js';
import { chooseCaller } from './caller-picker.js';
import { ChainView } from './chain-view.js';
import { get } from './client.js';
import {
  announce,
  button,
  code,
  copy,
  failure,
  fill,
  h,
  opened,
  placeLink,
  select,
  store,
  stored,
} from './dom.js';
import { FindingsView } from './findings-view.js';
import { HandlersView } from './handlers-view.js';
import { HistoryView } from './history-view.js';
import { LiveView } from './live-view.js';
import { openPalette } from './palette.js';
import { decoded, keep, linkTo, routeOf } from './route.js';
import { State } from './state.js';
import { TaskPanel } from './task-panel.js';
import { TasksView } from './tasks-view.js';
import type { View } from './view.js';

const VIEWS: readonly {
  readonly id: string;
  readonly link: string;
  readonly title: string;
  readonly type: new () => View;
}[] = [
  { id: 'handlers', link: 'tools', title: 'Handlers', type: HandlersView },
  { id: 'access', link: 'access', title: 'Access', type: AccessView },
  { id: 'chain', link: 'chain', title: 'Interceptors', type: ChainView },
  { id: 'history', link: 'history', title: 'History', type: HistoryView },
  { id: 'tasks', link: 'tasks', title: 'Tasks', type: TasksView },
  { id: 'live', link: 'live', title: 'Live', type: LiveView },
  { id: 'findings', link: 'findings', title: 'Findings', type: FindingsView },
];
for (const { id, type } of VIEWS) customElements.define(`mcp-${id}`, type);
customElements.define('mcp-call', CallPanel);
customElements.define('mcp-task', TaskPanel);
customElements.define('mcp-app', AppPanel);

const THEME = 'mcp-explorer-colours';

const top = document.getElementById('top')!;
const rail = document.getElementById('rail')!;
const content = document.getElementById('content')!;

let servers: readonly CatalogueServer[] = [];
let state: State | undefined;
/** Views keep what was written in them while others are shown. */
let views = new Map<string, View>();
/** A token is in memory only, and in no link. */
let caller: Caller = { kind: 'anonymous' };
let isPasted = false;

const words = (text: string | null): string[] => (text ?? '').split(' ').filter(word => word !== '');

/** Takes server, caller and revision from the link. A link without a caller keeps the pasted token. */
function stateOf(query: URLSearchParams): State | undefined {
  const server = servers.find(({ name }) => name === query.get('server')) ?? servers[0];
  if (!server) return undefined;
  const [scopes, roles] = [query.get('scopes'), query.get('roles')];
  const isSynthetic = scopes !== null || roles !== null;
  const linked: Caller = isSynthetic
    ? { kind: 'synthetic', scopes: words(scopes), roles: words(roles) }
    : caller.kind === 'token'
      ? caller
      : { kind: 'anonymous' };
  const [newest] = server.revisions;
  const revision = server.revisions.find(one => one === query.get('revision')) ?? newest;
  const part = server.parts.find(one => one === query.get('part')) ?? '';
  const isSame =
    state?.server === server &&
    state.revision === revision &&
    state.part === part &&
    JSON.stringify(state.caller) === JSON.stringify(linked);
  return isSame ? state : new State(server, linked, revision, part);
}

function queryOf({ server, caller: who, revision, part }: State): Record<string, string> {
  return {
    ...(server !== servers[0] && { server: server.name }),
    ...(who.kind === 'synthetic' && { scopes: who.scopes.join(' '), roles: who.roles.join(' ') }),
    ...(revision !== server.revisions[0] && { revision }),
    ...(part !== '' && { part }),
  };
}

function show(): void {
  const route = routeOf(location.hash);
  const next = stateOf(route.query);
  if (next !== state) {
    state = next;
    views = new Map();
    if (state) keep(queryOf(state));
    drawHeader();
  }
  const { id, title, type } = VIEWS.find(one => one.id === route.view) ?? VIEWS[0];
  drawRail(id);
  const [name] = route.rest;
  document.title = `${name === undefined ? '' : `${name} · `}${title} · MCP explorer`;
  if (!state) return fill(content, h('p.empty', 'The application has no MCP server.'));
  const view = views.get(id) ?? Object.assign(new type(), { state, heading: title });
  views.set(id, view);
  if (!view.isConnected) fill(content, view);
  view.go(route);
}

function drawRail(current: string): void {
  fill(
    rail,
    VIEWS.map(({ id, link, title }) => placeLink(linkTo([link]), id === current, title)),
  );
  // On a phone, the rail is a row that scrolls.
  const link = rail.querySelector<HTMLElement>('[aria-current]');
  if (link) rail.scrollLeft = link.offsetLeft + link.offsetWidth - rail.clientWidth;
}

/** Goes to the same place with another server, caller or revision. */
function change(next: State): void {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const args = next.server === state?.server ? new URLSearchParams(query).get('args') : null;
  keep(queryOf(next));
  const segments = path === '' ? ['tools'] : path.split('/').map(decoded);
  const hash = linkTo(segments, args === null ? {} : { args });
  if (hash === location.hash) show();
  else location.hash = hash;
}

async function pickCaller(): Promise<void> {
  if (!state) return;
  const { server } = state;
  const chosen = await chooseCaller(server, state);
  if (!chosen) return;
  caller = chosen.caller;
  isPasted = caller.kind === 'token';
  const next = new State(server, chosen.caller, chosen.revision, chosen.part);
  change(next);
  announce(`Views are those of ${next.callerText}`);
}

function drawHeader(): void {
  if (!state) return;
  const { server, callerText, revision, part, caller: who } = state;
  const chooser = select(
    servers.map(({ name, version }) => [name, `${name} ${version}`]),
    'Server',
  );
  chooser.value = server.name;
  chooser.addEventListener('change', () => {
    const other = servers.find(({ name }) => name === chooser.value)!;
    change(new State(other, who, other.revisions[0], ''));
  });
  const picker = h(
    'button',
    { type: 'button', class: 'who', 'aria-haspopup': 'dialog', click: () => void pickCaller() },
    h('small', 'Caller'),
    h('span', { class: isPasted || who.kind !== 'anonymous' ? 'strong' : '' }, callerText),
    h('small', [revision, part].filter(Boolean).join(' · ')),
  );
  const finder = button('Go to …', () => find());
  finder.append(h('kbd', 'Ctrl K'));
  finder.classList.add('finder');
  fill(
    top,
    h('h1', 'MCP explorer'),
    chooser,
    picker,
    server.isProtected && h('small.hint', 'protected by McpAuthModule'),
    h('span.space'),
    finder,
    themeChooser(),
    button('Reload', () => load()),
    button('Connect', () => connect(server)),
  );
}

/** How other clients reach the server: the official inspector also shows chat and login flows. */
function connect({ inspector, path }: CatalogueServer): void {
  const command = inspector?.replace('{origin}', location.origin);
  const url = path === undefined ? undefined : location.origin + path;
  const dialog: HTMLDialogElement = h(
    'dialog',
    { 'aria-label': 'Connect' },
    h('h2', 'Connect'),
    command === undefined || url === undefined
      ? h('p', 'A server on stdio alone has no endpoint.')
      : [
          h('p', 'Endpoint'),
          code(url, 'Endpoint'),
          h('p', 'Chat and login flows: the official inspector'),
          code(command, 'Command that starts the inspector'),
        ],
    h(
      'div.row',
      command !== undefined && button('Copy command', () => copy(command, 'Command')),
      button('Close', () => dialog.close(), 'primary'),
    ),
  );
  void opened(dialog);
}

/** The colours of the system, light or dark. The browser remembers the choice. */
function themeChooser(): HTMLSelectElement {
  const chooser = select(Object.entries({ '': 'Auto', light: 'Light', dark: 'Dark' }), 'Colours');
  const apply = () => void (document.documentElement.dataset['theme'] = chooser.value);
  chooser.value = stored(THEME) ?? '';
  apply();
  chooser.addEventListener('change', () => {
    apply();
    store(THEME, chooser.value);
  });
  return chooser;
}

function find(): void {
  if (state) void openPalette(state, VIEWS);
}

async function load(): Promise<void> {
  try {
    ({ servers } = await get<Catalogue>('catalogue'));
    state = undefined;
    show();
  } catch (error) {
    fill(content, h('div.page', failure(error, load)));
  }
}

document.getElementById('skip')?.addEventListener('click', event => {
  // The fragment names the view.
  event.preventDefault();
  content.focus();
});
addEventListener('hashchange', show);
addEventListener('keydown', event => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  find();
});
void load();
