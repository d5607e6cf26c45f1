/** The name that differs from a word by the fewest typing errors: at most one for each three characters. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const rated = names.map(name => ({ name, errors: typingErrors(word.toLowerCase(), name.toLowerCase()) }));
  return rated.filter(({ errors }) => errors <= limit).sort((a, b) => a.errors - b.errors)[0]?.name;
}

/** Counts inserted, missing, wrong and swapped characters (optimal string alignment). */
function typingErrors(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const wrong = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, wrong, isSwapped ? before[j - 2] + 1 : Infinity));
    }
    [before, row] = [row, next];
  }
  return row[b.length];
}
