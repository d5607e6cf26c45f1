import { button, h, outcomeBadge, table, time } from './dom.js';
import { argsOf, type Run } from './history.js';
import { linkTo, linkToHandler, MAX_LINKED } from './route.js';
import { localTime, ms, textOf } from './values.js';

/** Calls of this browser. Two of them can be compared. */
export function runsTable(runs: readonly Run[], again?: (run: Run) => void): HTMLElement {
  const chosen: Run[] = [];
  const compare = h('a.button', { href: linkTo(['history']), hidden: true }, 'Compare the two');
  const choose = (run: Run, box: HTMLInputElement) => {
    const place = chosen.indexOf(run);
    if (place >= 0) chosen.splice(place, 1);
    else if (chosen.length < 2) chosen.push(run);
    else box.checked = false;
    compare.hidden = chosen.length < 2;
    const [newer, older] = chosen.sort((one, other) => runs.indexOf(one) - runs.indexOf(other));
    if (older) compare.href = linkTo(['history', older.id, newer.id]);
  };
  return h(
    'div.stack',
    table(
      'Calls of this browser',
      {
        At: ({ at }) => time(at),
        ...(!again && {
          Handler: ({ kind, name }: Run) =>
            h('a', { href: linkToHandler(kind, name, 'call') }, h('code', name)),
        }),
        Arguments: run =>
          run.isCut ? h('small', 'too long to keep') : h('code.cell', textOf(argsOf(run) ?? {})),
        Outcome: ({ outcome }) => outcomeBadge(outcome),
        Took: ({ durationMs }) => h('span.number', ms(durationMs)),
        Revision: ({ revision }) => h('span.date', revision),
        Again: run =>
          !run.isCut &&
          (again ? button('Edit', () => again(run), 'small') : h('a', { href: linkToEdit(run) }, 'Edit')),
        Compare: run => {
          const box = h('input', {
            type: 'checkbox',
            'aria-label': `Compare the call of ${localTime(run.at)}`,
          });
          box.addEventListener('change', () => choose(run, box));
          return box;
        },
      },
      runs,
    ),
    compare,
  );
}

/** A link to the form with the arguments of a call. The form reads long ones from the history. */
function linkToEdit(run: Run): string {
  const args = JSON.stringify(argsOf(run) ?? {});
  const { kind, name, id } = run;
  return linkToHandler(kind, name, 'call', args.length <= MAX_LINKED ? { args } : { run: id });
}
