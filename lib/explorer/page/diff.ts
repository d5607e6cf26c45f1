interface Line {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Past this product of lengths, the comparison would take too long. */
const MAX_CELLS = 1_000_000;

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
