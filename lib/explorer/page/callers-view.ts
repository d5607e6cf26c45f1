import type { CallerView, CallerList } from '../api.js';
import { CallerPicker } from './caller-picker.js';
import { post } from './client.js';
import { alertOf, announce, badge, button, fill, h, labelled, select, table } from './dom.js';
import { count, textOf, type Json } from './values.js';
import { View } from './view.js';

/** The lists as a chosen caller gets them, with the reason for each entry that is missing. */
export class CallersView extends View {
  protected async build(): Promise<Node[]> {
    const { name, revisions, parts } = this.server;
    const picker = new CallerPicker(['anonymous', 'token', 'synthetic']);
    const revision = select(revisions.map(value => [value, value] as const));
    const part = select([['', 'All'] as const, ...parts.map(value => [value, value] as const)]);
    const place = h('div');
    const show = async () => {
      try {
        const body = { server: name, caller: picker.value, revision: revision.value, part: part.value };
        const answer = await post<CallerView>('callers', body);
        fill(place, ...answerOf(answer));
      } catch (error) {
        fill(place, alertOf(error));
      }
    };
    const pressed = async () => {
      await show();
      announce(`Lists of ${revision.value} shown`);
    };
    await show();
    return [
      h('h2', 'Callers'),
      h('p', 'The lists that a caller gets. A synthetic caller sees lists and calls nothing.'),
      picker.element,
      h(
        'div.row',
        labelled('Protocol revision', revision),
        parts.length > 0 && labelled('Part of the server', part),
        button('Show lists', pressed, 'primary'),
      ),
      place,
    ];
  }
}

function answerOf({ caller, refused, lists }: CallerView): Node[] {
  if (refused !== undefined) return [h('p.alert', `Refused: ${refused}`)];
  const known = [...(caller?.scopes ?? []), ...(caller?.roles ?? []).map(role => `role ${role}`)];
  return [
    h('p', known.length > 0 ? `Known as: ${known.join(', ')}` : 'Without scopes and roles.'),
    ...lists.map(listView),
  ];
}

function listView({ method, entries, tokens, missing, isCut, refused }: CallerList): HTMLElement {
  const heading = h('h3', method, ' ', badge(`${entries.length}`), ' ');
  const cost = tokens?.reduce((sum, one) => sum + one, 0);
  if (refused !== undefined) return h('section', heading, h('p.alert', `Refused: ${refused}`));
  return h(
    'section',
    heading,
    cost !== undefined && h('p', `About ${count(cost, 'token')} in each conversation.`),
    entries.length > 0 &&
      table<Json>(
        `Entries of ${method}`,
        {
          Name: entry => h('code', nameOf(entry)),
          Description: entry => textOf(entry['description'] ?? '–'),
          ...(tokens && { Tokens: (_: Json, index: number) => `${tokens[index]}` }),
        },
        entries,
      ),
    missing.length > 0 &&
      table(
        `${count(missing.length, 'entry').replace('entrys', 'entries')} missing from ${method}`,
        {
          Missing: ({ name }) => h('code', name),
          'Removed by': ({ by, names }) => [badge(by, by), ' ', names.join(', ')],
          Reason: ({ why }) => why,
        },
        missing,
      ),
    isCut && h('p.hint', 'The list goes on: the explorer reads its first 50 pages only.'),
    entries.length + missing.length === 0 && h('p.hint', 'Nothing.'),
  );
}

export const nameOf = (entry: Json): string =>
  textOf(entry['uriTemplate'] ?? entry['uri'] ?? entry['name'] ?? '');
