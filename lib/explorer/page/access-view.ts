import type { CallerList, CallerView, Kind } from '../api.js';
import { badge, h, table, type Child } from './dom.js';
import { LIST_OF, nameIn } from './items.js';
import { linkTo, linkToHandler } from './route.js';
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
        missing.length > 0 && missingTable(missing),
        lists.map(listView),
      ),
    ];
  }
}

function knownAs(caller: CallerView['caller']): string {
  const known = [...(caller?.scopes ?? []), ...(caller?.roles ?? []).map(role => `role ${role}`)];
  return known.length > 0 ? `Known as: ${known.join(', ')}` : 'Without scopes and roles.';
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

const missingTable = (missing: CallerList['missing']): HTMLElement =>
  table(
    plural(missing.length, 'missing entry', 'missing entries'),
    {
      Missing: ({ kind, name }) => h('a', { href: linkToHandler(kind, name) }, h('code', name)),
      'Removed by': ({ by, names }) => [
        badge(by, 'warn'),
        ' ',
        names.map(name =>
          by === 'interceptor' ? h('a', { href: linkTo(['chain', name]) }, name) : `${name} `,
        ),
      ],
      Reason: ({ why }) => why,
    },
    missing,
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
          Name: entry => h('a', { href: linkToHandler(kind, nameIn(entry)) }, h('code', nameIn(entry))),
          Description: entry => textOf(entry['description'] ?? '–'),
          ...(tokens && { Tokens: (_: Json, index: number) => h('span.number', tokens[index]) }),
        },
        entries,
      ),
      isCut && h('p.hint', 'The explorer reads only the first 50 pages of this list.'),
    )
  );
}
