import type { CatalogueEntry, Step } from '../api.js';
import { diffView } from './diff-view.js';
import { badge, button, code, copy, fill, h, labelled, type Child } from './dom.js';
import { schemaView } from './schema-view.js';
import { count, isRecord, pretty, textOf } from './values.js';
import { View } from './view.js';

const HEADINGS: Readonly<Record<CatalogueEntry['kind'], string>> = {
  tool: 'Tools',
  prompt: 'Prompts',
  resource: 'Resources',
  'resource template': 'Resource templates',
  completion: 'Completions',
  method: 'Methods of extensions',
};

const KINDS = Object.keys(HEADINGS) as CatalogueEntry['kind'][];

/** Every handler of a server, with what runs around it and what clients are sent of it. */
export class CatalogueView extends View {
  private readonly list = h('nav.list', { 'aria-label': 'Handlers' });
  private readonly detail = h('section.detail', { 'aria-label': 'Handler' });

  private readonly choices = new Map<CatalogueEntry, HTMLButtonElement>();
  private shown?: CatalogueEntry;

  protected async build(): Promise<Child[]> {
    const { handlers, tokens, isGateway, isProtected } = this.server;
    const filter = h('input', { type: 'search', autocomplete: 'off' });
    filter.addEventListener('input', () => this.showList(filter.value));
    this.showList('');
    if (handlers.length > 0) this.show(handlers[0]);
    else fill(this.detail, h('p', emptyText(isGateway)));
    return [
      h('h2', 'Catalogue'),
      h('p', `${count(handlers.length, 'handler')}, about ${count(tokens, 'token')} for the tools`),
      isProtected && h('p', 'McpAuthModule protects this server.'),
      this.inspector(),
      h('div.split', h('div', labelled('Filter by name', filter), this.list), this.detail),
    ];
  }

  private inspector(): HTMLElement {
    const inspector = this.server.inspector?.replace('{origin}', location.origin);
    if (inspector === undefined) return h('p.hint', 'A server on stdio alone has no endpoint.');
    return h(
      'details',
      h('summary', 'Chat and login flows: the official inspector'),
      code(inspector, 'Command that starts the inspector'),
      button('Copy command', () => copy(inspector, 'Command'), 'small'),
    );
  }

  private showList(text: string): void {
    this.choices.clear();
    const named = this.server.handlers.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
    const groups = KINDS.map(kind => ({ kind, entries: named.filter(entry => entry.kind === kind) }));
    fill(
      this.list,
      groups
        .filter(({ entries }) => entries.length > 0)
        .map(({ kind, entries }) => [
          h('h3', `${HEADINGS[kind]} (${entries.length})`),
          h('ul', ...entries.map(entry => h('li', this.choice(entry)))),
        ]),
    );
  }

  private choice(entry: CatalogueEntry): HTMLElement {
    const choice = button(
      entry.name,
      () => {
        this.show(entry);
        this.detail.querySelector('h3')?.focus();
      },
      'choice',
    );
    this.choices.set(entry, choice);
    choice.setAttribute('aria-current', String(entry === this.shown));
    return choice;
  }

  private show(entry: CatalogueEntry): void {
    this.shown = entry;
    for (const [other, choice] of this.choices) choice.setAttribute('aria-current', String(other === entry));
    fill(this.detail, ...detailOf(entry));
  }
}

const emptyText = (isGateway: boolean): string =>
  isGateway
    ? 'A gateway offers what its backends do. “Callers” lists it for a caller.'
    : 'This server has no handlers.';

const stepText = ({ kind, name, level, parameter }: Step) => [
  badge(kind, kind),
  ' ',
  h('code', name),
  ` ${level}${parameter === undefined ? '' : ` ${parameter}`}`,
];

function detailOf(entry: CatalogueEntry): Child[] {
  const { kind, name, title, description, className, methodName, steps, definitions } = entry;
  const schema = definitions?.modern['inputSchema'] ?? entry.params;
  const output = definitions?.modern['outputSchema'] ?? entry.result;
  return [
    h('h3', { tabindex: -1 }, name, ' ', badge(kind)),
    kind !== 'method' && h('p', title && h('strong', `${title}. `), description ?? h('em', 'No description')),
    h('dl', facts(entry)),
    h('h4', 'In the order in which they run'),
    steps.length > 0
      ? h('ol', ...steps.map(step => h('li', stepText(step))))
      : h('p.hint', 'No guards, interceptors, pipes or filters.'),
    h(
      'p.hint',
      className === '' ? 'nestjs-mcp answers it.' : `They run around ${className}.${methodName}().`,
    ),
    ...(schema ? [h('h4', 'Input'), schemaView(schema)] : []),
    ...(output ? [h('h4', 'Output'), schemaView(output)] : []),
    ...(definitions ? sentAs(definitions) : []),
  ];
}

function facts(entry: CatalogueEntry): HTMLElement[] {
  const { className, methodName, visible, scopes, anonymous, headers, cache, tokens, definitions } = entry;
  const { eras, nameHeader } = entry;
  const annotations = definitions?.modern['annotations'];
  const fact = (term: string, value: string | undefined) =>
    value === undefined || value === '' ? [] : [h('div', h('dt', term), h('dd', value))];
  return [
    ...fact('Method', className === '' ? undefined : `${className}.${methodName}`),
    ...fact('Eras', eras?.join(', ')),
    ...fact('Mcp-Name header', nameHeader && `repeats "${nameHeader}"`),
    ...fact('Scopes', scopes.join(' ')),
    ...fact('Without a token', anonymous === undefined ? undefined : anonymous ? 'allowed' : 'refused'),
    ...fact('Visible if', visible.join(', ')),
    ...fact('Header parameters', headers.map(({ header, argument }) => `${argument} → ${header}`).join(', ')),
    ...fact('Cache hint', cache && `${cache.ttlMs} ms${cache.scope ? `, ${cache.scope}` : ''}`),
    ...fact('Annotations', isRecord(annotations) ? annotationText(annotations) : undefined),
    ...fact('Cost', tokens > 0 ? `about ${count(tokens, 'token')}` : undefined),
  ];
}

const annotationText = (annotations: object): string =>
  Object.entries(annotations)
    .map(([key, value]) => `${key}: ${textOf(value)}`)
    .join(', ');

function sentAs({ modern, legacy }: NonNullable<CatalogueEntry['definitions']>): Node[] {
  const texts = { modern: pretty(modern), legacy: pretty(legacy) };
  const view = (era: string, text: string) =>
    h('details', h('summary', `As sent in ${era}`), code(text, `Definition in ${era}`));
  if (texts.modern === texts.legacy) return [h('h4', 'As sent'), view('both eras', texts.modern)];
  const shown = (value: unknown) => ({ value, size: 0 });
  return [
    h('h4', 'As sent'),
    view('2026-07-28', texts.modern),
    view('the 2025 revisions', texts.legacy),
    h(
      'details',
      h('summary', 'From the 2025 revisions to 2026-07-28'),
      diffView(shown(legacy), shown(modern), 'Difference between the eras'),
    ),
  ];
}
