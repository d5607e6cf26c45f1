import { FLAG, objectOf } from '../../../options/option-schema.js';

export interface EntropyOptions {
  /** Minimum characters of a run to check. Default: 24. */
  readonly minLength?: number;
  /** Minimum Shannon entropy of a run of base64 characters, in bits per character. Default: 3.7. */
  readonly base64?: number;
  /** Minimum Shannon entropy of a run of hexadecimal digits, in bits per character. Default: 3. */
  readonly hex?: number;
  /** Whether bare runs of 40 or 64 hexadecimal digits count, the length of Git object names. Default: false. */
  readonly gitShas?: boolean;
}

export const ENTROPY = objectOf<EntropyOptions, Required<EntropyOptions>>({
  minLength: { type: 'integer', minimum: 8, default: 24 },
  base64: { type: 'number', default: 3.7 },
  hex: { type: 'number', default: 3 },
  gitShas: { ...FLAG, default: false },
});

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const BARE_UUID = /^[0-9a-f]{12}[1-8][0-9a-f]{3}[89ab][0-9a-f]{15}$/i;

export class EntropyFinder {
  private readonly run: RegExp;

  constructor(private readonly options: Required<EntropyOptions>) {
    this.run = new RegExp(`[A-Za-z0-9+/_-]{${options.minLength},}={0,2}`, 'g');
  }

  *find(text: string): Generator<{ start: number; value: string }> {
    for (const { 0: value, index } of text.matchAll(this.run)) {
      if (value.split(UUID).some(part => part.length >= this.options.minLength && this.isRandom(part)))
        yield { start: index, value };
    }
  }

  private isRandom(run: string): boolean {
    if (!/\d/.test(run) || !/[a-z]/i.test(run)) return false;
    const { base64, hex, gitShas } = this.options;
    if (/^[0-9a-f]+$/i.test(run)) {
      if (!gitShas && (run.length === 40 || run.length === 64)) return false;
      return !BARE_UUID.test(run) && entropy(run) >= hex;
    }
    // Joined words rarely change between upper case, lower case and digits, but random characters change often.
    const required = /[a-z]/.test(run) && /[A-Z]/.test(run) ? 0.4 : 0.2;
    return changes(run) >= required && entropy(run) >= base64 && !isText(run);
  }
}

export function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

function changes(run: string): number {
  const classes = run
    .replace(/[^A-Za-z0-9]/g, '')
    .replace(/[a-z]/g, 'a')
    .replace(/[A-Z]/g, 'A')
    .replace(/\d/g, '0');
  let count = 0;
  for (let index = 1; index < classes.length; index++) {
    if (classes[index] !== classes[index - 1]) count++;
  }
  return count / Math.max(1, classes.length - 1);
}

const isText = (run: string): boolean =>
  /^[\t\n\r\x20-\x7e]+$/.test(Buffer.from(run, 'base64').toString('latin1'));
