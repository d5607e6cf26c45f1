import { diffView } from './diff-view.js';
import { button, fill, h, type Child } from './dom.js';
import { forget, runsOf, type Run } from './history.js';
import { linkTo, type Route } from './route.js';
import { runsTable } from './runs-table.js';
import { localTime, ms } from './values.js';
import { View } from './view.js';

/** The calls of this browser, and two of them side by side. */
export class HistoryView extends View {
  private readonly place = h('div.page');

  protected async build(): Promise<Child[]> {
    return [this.place];
  }

  protected override show({ rest: [one, other] }: Route): void {
    const runs = runsOf(this.state.server.name);
    const [before, after] = [one, other].map(id => runs.find(run => run.id === id));
    fill(this.place, before && after ? compared(before, after) : this.list(runs));
  }

  private list(runs: readonly Run[]): Child[] {
    if (runs.length === 0) {
      return [h('h2', 'History'), h('p.empty', 'No calls yet. The calls of this browser are listed here.')];
    }
    const clear = () => {
      forget();
      fill(this.place, this.list([]));
    };
    return [
      h('div.row.apart', h('h2', 'History'), button('Forget all calls', clear, 'small')),
      h('p.hint', 'This browser keeps its latest 50 calls, without tokens.'),
      runsTable(runs),
    ];
  }
}

function compared(before: Run, after: Run): Child[] {
  const answer = ({ answer: shown }: Run) => shown ?? { value: 'No answer', size: 0 };
  return [
    h('a.back.always', { href: linkTo(['history']) }, '‹ History'),
    h('h2', `${before.name}, two calls`),
    h(
      'p',
      ...[before, after].map(run =>
        h('span.differs', `${localTime(run.at)}: ${run.outcome}, ${ms(run.durationMs)} `),
      ),
    ),
    h('h3', 'Params'),
    before.isCut || after.isCut
      ? h('p.hint', 'They were too long to keep.')
      : diffView(
          { value: before.params, size: 0 },
          { value: after.params, size: 0 },
          'Difference of the params',
        ),
    h('h3', 'Answer'),
    diffView(answer(before), answer(after), 'Difference of the answers'),
  ];
}
