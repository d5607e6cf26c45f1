import type { CallerList, CallerView, Kind, MissingEntry } from '../api.js';
import { badge, h, table, type Child } from './dom.js';
import { LIST_OF, nameIn } from './items.js';
import { handlerLink, interceptorLink, linkList } from './links.js';
import { count, plural, textOf, type Json } from './values.js';
import { View } from './view.js';

/** The lists as the caller gets them, with the reason for each missing entry. */
export class AccessView extends View {
  protected async build(): Promise<Child[]> {
    const { callerText, revision } = this.state;
    const { caller, refused, lists } = await this.state.callerView();
    const heading = h('h2', 'What this caller gets');
    if (refused !== undefined) {
      return [h('div.page', heading, h('p.alert', `The server refuses ${callerText}: ${refused}`))];
    }
    const missing = lists.flatMap(list => list.missing);
    return [
      h(
        'div.page',
        heading,
        h('p', `${callerText} in revision ${revision}. `, knownAs(caller)),
        summary(lists),
        missing.length > 0 && missingView(missing),
        lists.map(listView),
      ),
    ];
  }
}

function knownAs(caller: CallerView['caller']): string {
  const { name, scopes = [], roles = [] } = caller ?? {};
  const known = [...scopes, ...roles.map(role => `role ${role}`)].join(', ') || 'no scopes or roles';
  return name === undefined ? `With ${known}.` : `Known as ${name}, with ${known}.`;
}

const summary = (lists: readonly CallerList[]): HTMLElement =>
  h(
    'dl.figures',
    lists.map(({ method, entries, missing, tokens }) =>
      h(
        'div',
        h('dt', method),
        h('dd.number', entries.length, missing.length > 0 && h('small', `${missing.length} missing`)),
        tokens &&
          h(
            'dd.hint',
            `about ${count(
              tokens.reduce((sum, one) => sum + one, 0),
              'token',
            )}`,
          ),
      ),
    ),
  );

/** Entries that are missing for the same reason are listed together. */
function missingView(missing: CallerList['missing']): HTMLElement {
  const title = plural(missing.length, 'missing entry', 'missing entries');
  const byReason = Map.groupBy(missing, ({ by, names, why }) => JSON.stringify([by, names, why]));
  return h(
    'section.rule',
    { 'aria-label': title },
    h('h3', title),
    [...byReason.values()].map(entries => [
      reasonView(entries[0]),
      linkList(entries.map(({ kind, name }) => handlerLink(kind, name))),
    ]),
  );
}

const reasonView = ({ by, names, why }: MissingEntry): HTMLElement =>
  h(
    'p',
    badge(by, 'warn'),
    ' ',
    by === 'interceptor' && names.map(name => [interceptorLink(name), ' ']),
    h('span.remedy', `${why}.`),
  );

function listView({ method, entries, tokens, isCut, refused }: CallerList): Child {
  if (refused !== undefined) return h('section', h('h3', method), h('p.alert', `Refused: ${refused}`));
  const kind = Object.entries(LIST_OF).find(([, list]) => list === method)?.[0] as Kind;
  return (
    entries.length > 0 &&
    h(
      'details.list-of',
      { open: entries.length <= 20 },
      h('summary', `${method}, `, plural(entries.length, 'entry', 'entries')),
      table<Json>(
        `Entries of ${method}`,
        {
          Name: entry => handlerLink(kind, nameIn(entry)),
          Description: entry => textOf(entry['description'] ?? '–'),
          ...(tokens && { Tokens: (_: Json, index: number) => h('span.number', tokens[index]) }),
        },
        entries,
      ),
      isCut && h('p.hint', 'The explorer reads only the first 50 pages of this list.'),
    )
  );
}
