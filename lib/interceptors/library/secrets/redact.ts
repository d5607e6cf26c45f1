import type { SecretFinding } from './detector.js';

const placeholder = (kind: string): string => `[REDACTED:${kind}]`;

export function redactFindings(
  text: string,
  findings: readonly SecretFinding[],
): { readonly text: string; readonly kinds: readonly string[] } {
  const cuts = merge(findings);
  let copied = 0;
  let redacted = '';
  for (const { kind, start, end } of cuts) {
    redacted += text.slice(copied, start) + placeholder(kind);
    copied = end;
  }
  return { text: redacted + text.slice(copied), kinds: cuts.map(({ kind }) => kind) };
}

/** Findings that overlap are one cut, called by what is known best. */
function merge(findings: readonly SecretFinding[]): { kind: string; start: number; end: number }[] {
  const cuts: { kind: string; start: number; end: number }[] = [];
  for (const { kind, start, end } of [...findings].sort((a, b) => a.start - b.start)) {
    const last = cuts.at(-1);
    if (last === undefined || start >= last.end) cuts.push({ kind, start, end });
    else {
      last.end = Math.max(last.end, end);
      if (last.kind === 'high-entropy') last.kind = kind;
    }
  }
  return cuts;
}
