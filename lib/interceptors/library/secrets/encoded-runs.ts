export interface EncodedRun {
  readonly start: number;
  readonly end: number;
  /** What it may say: one reading for each way in which it can be aligned. */
  readonly readings: readonly string[];
}

const BASE64 = /[A-Za-z0-9+/_-][A-Za-z0-9+/_\-\r\n]{18,}={0,2}/g;
const HEX = /[0-9A-Fa-f]{32,}/g;
/** Random bytes hardly ever read as this many characters of text in a row. */
const TEXT = /(?:[\t\n\r\0]|[^\p{Cc}\ufffd]){16}/u;

/** The runs that may be base64, standard or URL-safe, or hexadecimal, and read as text. */
export function* encodedRuns(text: string): Generator<EncodedRun> {
  for (const [pattern, encoding, unit] of [
    [BASE64, 'base64', 4],
    [HEX, 'hex', 2],
  ] as const) {
    for (const { 0: run, index } of text.matchAll(pattern)) {
      const plain = run.replace(/[\r\n]+/g, '');
      const readings = Array.from({ length: unit }, (_, skip) =>
        Buffer.from(plain.slice(skip), encoding).toString('utf8'),
      ).filter(reading => TEXT.test(reading));
      if (readings.length > 0) yield { start: index, end: index + run.length, readings };
    }
  }
}
