/** A message or a note of a diagram, from one column to another. */
interface Row {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
  readonly kind: 'message' | 'answer' | 'note';
}

const PARTICIPANT = /^participant (\w+)(?: as (.+))?$/;
const MESSAGE = /^(\w+)(-{1,2})>>(\w+): (.+)$/;
const NOTE = /^Note over (\w+)(?:,(\w+))?: (.+)$/;

/** Lengths in pixels; text is set in 13 px. */
const CHARACTER = 6.9;
const ROW = 40;
const LINE = 17;
const HEAD = 36;
const LEAST_GAP = 150;

/** In a narrow window, a diagram shrinks this far, and then scrolls. */
const LEAST_SCALE = 0.85;

/** The characters of a line between two columns: a diagram of two columns fits on a phone. */
const LINE_LENGTH = 26;

const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const widthOf = (...lines: string[]) => Math.max(...lines.map(line => line.length)) * CHARACTER + 24;
const heightOf = ({ lines }: Row) => ROW + (lines.length - 1) * LINE;

/**
 * Draws a sequence diagram as SVG, in the colours of the site. It reads the part of Mermaid's language that our diagrams use, so that
 * GitHub draws the same text.
 * @throws Error for a line that it does not know
 */
export function sequenceOf(source: string): string {
  const names = new Map<string, string>();
  const rows: Row[] = [];
  const columnOf = (id: string) => {
    if (!names.has(id)) throw new Error(`There is no participant ${id}`);
    return [...names.keys()].indexOf(id);
  };
  for (const line of source.split('\n').map(text => text.trim())) {
    const [, id, name = id] = PARTICIPANT.exec(line) ?? [];
    const [, from, dashes, to, text] = MESSAGE.exec(line) ?? [];
    const [, first, last = first, note] = NOTE.exec(line) ?? [];
    if (id) names.set(id, name);
    else if (from) {
      const kind = dashes.length === 2 ? 'answer' : 'message';
      rows.push(rowBetween(columnOf(from), columnOf(to), text, kind));
    } else if (first) rows.push(rowBetween(columnOf(first), columnOf(last), note, 'note'));
    else if (line !== '' && line !== 'sequenceDiagram') throw new Error(`A diagram has the line "${line}"`);
  }
  return draw([...names.values()], rows);
}

/** Breaks a long text into lines of about the same length. */
function rowBetween(from: number, to: number, text: string, kind: Row['kind']): Row {
  const room = LINE_LENGTH * Math.max(1, Math.abs(to - from));
  const most = Math.min(room, text.length / Math.ceil(text.length / room) + 6);
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length <= most) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return { from, to, lines, kind };
}

function draw(names: readonly string[], rows: readonly Row[]): string {
  const centres = centresOf(names, rows);
  const width =
    centres.at(-1)! + Math.max(widthOf(names.at(-1)!), ...notesAt(rows, names.length - 1)) / 2 + 8;
  const bottom = HEAD + rows.reduce((sum, row) => sum + heightOf(row), 0) + 16;
  const parts = names.map(
    (
      name,
      index,
    ) => `<line class="life" x1="${centres[index]}" x2="${centres[index]}" y1="${HEAD}" y2="${bottom}"/>
<rect class="head" x="${centres[index] - widthOf(name) / 2}" width="${widthOf(name)}" y="4" height="${HEAD - 8}" rx="6"/>
<text class="name" x="${centres[index]}" y="${HEAD / 2 + 4}">${escaped(name)}</text>`,
  );
  let y = HEAD - 12;
  for (const row of rows) parts.push(rowOf(row, centres, (y += heightOf(row))));
  return `<div class="sequence"><svg viewBox="0 0 ${width} ${bottom}" width="${width}" style="min-width:${LEAST_SCALE * width}px" role="img" aria-label="${escaped(
    rows
      .map(({ lines }) => lines.join(' '))
      .join('; ')
      .replace(/"/g, ''),
  )}">${parts.join('\n')}</svg></div>`;
}

function rowOf({ from, to, lines, kind }: Row, centres: readonly number[], y: number): string {
  const [start, end] = [centres[from], centres[to]];
  const middle = (start + end) / 2;
  const textUpTo = (last: number) =>
    lines
      .map((line, index) => {
        const base = last - (lines.length - 1 - index) * LINE;
        return `<text x="${middle}" y="${base}">${escaped(line)}</text>`;
      })
      .join('');
  if (kind === 'note') {
    const width = Math.max(widthOf(...lines), Math.abs(end - start) + 24);
    const height = 26 + (lines.length - 1) * LINE;
    return `<rect class="note" x="${middle - width / 2}" y="${y + 6 - height}" width="${width}" height="${height}" rx="6"/>
${textUpTo(y - 3)}`;
  }
  const tip = end > start ? -8 : 8;
  return `<line class="${kind}" x1="${start}" x2="${end}" y1="${y}" y2="${y}"/>
<path class="tip" d="M${end} ${y}l${tip} -4v8z"/>
${textUpTo(y - 7)}`;
}

/** The columns stand so far apart that each text has room. */
function centresOf(names: readonly string[], rows: readonly Row[]): number[] {
  const gaps = names
    .slice(1)
    .map((name, index) => Math.max(LEAST_GAP, (widthOf(name) + widthOf(names[index])) / 2 + 16));
  for (const { from, to, lines, kind } of rows) {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const span = gaps.slice(low, high);
    const missing = widthOf(...lines) - (kind === 'note' ? 24 : 0) - span.reduce((sum, gap) => sum + gap, 0);
    if (missing > 0) for (let index = low; index < high; index++) gaps[index] += missing / span.length;
  }
  let centre = Math.max(widthOf(names[0]), ...notesAt(rows, 0)) / 2 + 8;
  return [centre, ...gaps.map(gap => (centre += gap))];
}

/** The widths of notes over one column alone. */
const notesAt = (rows: readonly Row[], column: number) =>
  rows
    .filter(({ kind, from, to }) => kind === 'note' && from === column && to === column)
    .map(({ lines }) => widthOf(...lines));
