import type { Finding, Findings } from '../api.js';
import { get } from './client.js';
import { h, type Child } from './dom.js';
import { handlerLink, interceptorLink, linkList } from './links.js';
import { count } from './values.js';
import { View } from './view.js';

const HEADINGS: Readonly<Record<Finding['rule'], string>> = {
  unguarded: 'Unguarded beside guarded',
  'no-description': 'No description',
  'long-description': 'Long descriptions',
  name: 'Names that hosts reject',
  'no-annotations': 'Tools without annotations',
  schema: 'Schemas that hosts reject',
  'hook-never-matches': 'Hooks that never match',
};

const RULES = Object.keys(HEADINGS) as Finding['rule'][];

/** Changes to make before others use the server, by rule. */
export class FindingsView extends View {
  protected async build(): Promise<Child[]> {
    const { findings } = await get<Findings>('findings');
    const own = findings.filter(({ server }) => server === this.state.server.name);
    const groups = RULES.map(rule => own.filter(finding => finding.rule === rule)).filter(
      ({ length }) => length > 0,
    );
    return [
      h(
        'div.page',
        h('h2', 'Findings'),
        own.length > 0
          ? h('p', `${count(own.length, 'finding')} of ${count(groups.length, 'rule')}`)
          : h('p.empty', 'Nothing to change was found.'),
        groups.map(ruleView),
      ),
    ];
  }
}

/** Findings that say the same are one: only their subjects are listed. */
function ruleView(group: readonly Finding[]): HTMLElement {
  const byText = Map.groupBy(group, ({ message, remedy }) => `${message}\n${remedy}`);
  return h(
    'section.rule',
    h('h3', HEADINGS[group[0].rule], ' ', h('span.number', group.length)),
    [...byText.values()].map(findings => [
      h('p', findings[0].message, '. ', h('span.remedy', findings[0].remedy)),
      linkList(findings.map(linkOf)),
    ]),
  );
}

const linkOf = ({ kind, subject }: Finding): HTMLElement =>
  kind ? handlerLink(kind, subject) : interceptorLink(`local/${subject}`);
