import type { Finding, Findings } from '../api.js';
import { get } from './client.js';
import { h } from './dom.js';
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

/** Changes to make before others use the server. */
export class FindingsView extends View {
  protected async build(): Promise<Node[]> {
    const { findings } = await get<Findings>('findings');
    const own = findings.filter(({ server }) => server === this.server.name);
    const groups = RULES.map(rule => own.filter(finding => finding.rule === rule));
    return [
      h('h2', 'Findings'),
      h('p', own.length > 0 ? count(own.length, 'finding') : 'Nothing to change was found.'),
      ...groups.filter(group => group.length > 0).map(groupView),
    ];
  }
}

const groupView = (group: readonly Finding[]): HTMLElement =>
  h(
    'section',
    h('h3', `${HEADINGS[group[0].rule]} (${group.length})`),
    h(
      'ul.findings',
      ...group.map(({ subject, message, remedy }) =>
        h('li', h('code', subject), h('p', message), h('p.hint', remedy)),
      ),
    ),
  );
