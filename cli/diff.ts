type Row = readonly [mark: ' ' | '-' | '+', line: string];

/** A unified diff of two texts; empty if they are the same. @param context the lines that it shows around a change */
export function diffOf(path: string, before: string, after: string, context = 3): string {
  const rows = rowsOf(linesOf(before), linesOf(after));
  const changed = rows.flatMap(([mark], index) => (mark === ' ' ? [] : [index]));
  const hunks: [start: number, end: number][] = [];
  for (const index of changed) {
    const last = hunks.at(-1);
    if (last && index - context <= last[1]) last[1] = Math.min(rows.length, index + context + 1);
    else hunks.push([Math.max(0, index - context), Math.min(rows.length, index + context + 1)]);
  }
  if (hunks.length === 0) return '';
  return `--- a/${path}\n+++ b/${path}\n${hunks.map(([start, end]) => hunkOf(rows, start, end)).join('')}`;
}

function hunkOf(rows: readonly Row[], start: number, end: number): string {
  const shown = rows.slice(start, end);
  const sideOf = (mark: '-' | '+') => {
    const count = (part: readonly Row[]) => part.filter(([one]) => one === ' ' || one === mark).length;
    const length = count(shown);
    return `${mark}${count(rows.slice(0, start)) + (length > 0 ? 1 : 0)},${length}`;
  };
  return `@@ ${sideOf('-')} ${sideOf('+')} @@\n${shown.map(([mark, line]) => `${mark}${line}\n`).join('')}`;
}

/** The rows by the longest common subsequence. What is the same at both ends is left out of the table. */
function rowsOf(before: readonly string[], after: readonly string[]): Row[] {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end))
    end += 1;
  const [a, b] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const same = (lines: readonly string[]): Row[] => lines.map(line => [' ', line]);
  return [...same(before.slice(0, start)), ...changedRows(a, b), ...same(before.slice(before.length - end))];
}

function changedRows(a: readonly string[], b: readonly string[]): Row[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i][j] =
        a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  const rows: Row[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;)
    if (i < a.length && j < b.length && a[i] === b[j]) {
      rows.push([' ', a[i++]]);
      j += 1;
    } else if (j >= b.length || (i < a.length && lengths[i + 1][j] >= lengths[i][j + 1]))
      rows.push(['-', a[i++]]);
    else rows.push(['+', b[j++]]);
  return rows;
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
