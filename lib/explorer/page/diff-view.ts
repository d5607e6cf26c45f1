import type { Shown } from '../api.js';
import { code, h } from './dom.js';
import { pretty } from './values.js';

interface Line {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Past this product of lengths, the comparison would take too long. */
const MAX_CELLS = 1_000_000;
const CONTEXT = 3;

/** The lines of two texts, in the order of a unified diff. */
export function linesOf(before: readonly string[], after: readonly string[]): Line[] {
  if (before.length * after.length > MAX_CELLS) {
    return [...all('removed', before), ...all('added', after)];
  }
  const lengths = commonLengths(before, after);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ kind: 'same', text: before[i] });
      [i, j] = [i + 1, j + 1];
    } else if (j === after.length || (i < before.length && lengths[i + 1][j] >= lengths[i][j + 1])) {
      lines.push({ kind: 'removed', text: before[i++] });
    } else lines.push({ kind: 'added', text: after[j++] });
  }
  return lines;
}

const all = (kind: Line['kind'], texts: readonly string[]): Line[] => texts.map(text => ({ kind, text }));

/** How many lines are common from each pair of places on. */
function commonLengths(before: readonly string[], after: readonly string[]): number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () =>
    new Array<number>(after.length + 1).fill(0),
  );
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i][j] =
        before[i] === after[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

export const textOfShown = ({ value, preview, size }: Shown): string =>
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
      if (!isCut) view.append(h('span', { class: 'cut' }, '  …\n'));
      isCut = true;
      continue;
    }
    isCut = false;
    if (kind === 'same') view.append(`  ${text}\n`);
    else view.append(kind === 'added' ? h('ins', {}, `+ ${text}\n`) : h('del', {}, `- ${text}\n`));
  }
  return view;
}
