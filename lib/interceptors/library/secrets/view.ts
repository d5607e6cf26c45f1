interface Stretch {
  readonly text: string;
  readonly from: number;
  readonly replaced?: number;
}

export class View {
  private constructor(
    readonly text: string,
    private readonly starts?: Uint32Array,
    private readonly ends?: Uint32Array,
  ) {}

  static of(text: string): View {
    return new View(text);
  }

  /** The part of the source that `start` to `end` of this text comes from; `end` is after `start`. */
  source(start: number, end: number): readonly [start: number, end: number] {
    return [this.starts?.[start] ?? start, this.ends?.[end - 1] ?? end];
  }

  rewrite(pattern: RegExp, replacement: (match: string) => string): View {
    const stretches: Stretch[] = [];
    let copied = 0;
    for (const { 0: match, index } of this.text.matchAll(pattern)) {
      const text = replacement(match);
      if (text === match) continue;
      stretches.push({ text: this.text.slice(copied, index), from: copied });
      stretches.push({ text, from: index, replaced: match.length });
      copied = index + match.length;
    }
    if (stretches.length === 0) return this;
    stretches.push({ text: this.text.slice(copied), from: copied });
    return this.join(stretches);
  }

  private join(stretches: readonly Stretch[]): View {
    const text = stretches.map(stretch => stretch.text).join('');
    const starts = new Uint32Array(text.length);
    const ends = new Uint32Array(text.length);
    let at = 0;
    for (const { text: part, from, replaced } of stretches) {
      for (let index = 0; index < part.length; index++, at++) {
        const start = replaced === undefined ? from + index : from;
        [starts[at], ends[at]] = this.source(start, start + (replaced ?? 1));
      }
    }
    return new View(text, starts, ends);
  }
}
