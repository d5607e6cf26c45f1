import type { Shown } from '../api.js';
import { linesOf } from './diff.js';
import { code, h } from './dom.js';
import { pretty } from './values.js';

/** Lines that are shown around a change. */
const CONTEXT = 3;

const textOfShown = ({ value, preview, size }: Shown): string =>
  preview === undefined ? pretty(value) : `${preview}\n… ${size.toLocaleString('en')} characters`;

export const shownView = (shown: Shown, label: string): HTMLElement => code(textOfShown(shown), label);

/** The changed lines with some around them: removed lines begin with a minus, added lines with a plus. */
export function diffView(before: Shown, after: Shown, label: string): HTMLElement {
  const lines = linesOf(textOfShown(before).split('\n'), textOfShown(after).split('\n'));
  const isNear = (place: number) =>
    lines.slice(Math.max(0, place - CONTEXT), place + CONTEXT + 1).some(({ kind }) => kind !== 'same');
  const view = code('', label);
  view.classList.add('diff');
  let isCut = false;
  for (const [place, { kind, text }] of lines.entries()) {
    if (!isNear(place)) {
      if (!isCut) view.append(h('span.cut', '  …\n'));
      isCut = true;
      continue;
    }
    isCut = false;
    if (kind === 'same') view.append(`  ${text}\n`);
    else view.append(kind === 'added' ? h('ins', `+ ${text}\n`) : h('del', `- ${text}\n`));
  }
  return view;
}
