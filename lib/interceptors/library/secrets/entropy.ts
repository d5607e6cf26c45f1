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
      // Most runs have no hyphen, and so no UUID.
      const parts = value.includes('-') ? value.split(UUID) : [value];
      if (parts.some(part => part.length >= this.options.minLength && this.isRandom(part)))
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

function entropy(run: string): number {
  const counts = new Uint32Array(128);
  const order: number[] = [];
  for (let index = 0; index < run.length; index++) {
    const code = run.charCodeAt(index);
    if (counts[code]++ === 0) order.push(code);
  }
  let bits = 0;
  for (const code of order) bits -= (counts[code] / run.length) * Math.log2(counts[code] / run.length);
  return bits;
}

/** The share of letters and digits that follow one of another class: upper case, lower case or digits. */
function changes(run: string): number {
  let count = 0;
  let length = 0;
  let last: number | undefined;
  for (let index = 0; index < run.length; index++) {
    const kind = classOf(run.charCodeAt(index));
    if (kind === OTHER) continue;
    if (length > 0 && kind !== last) count++;
    last = kind;
    length++;
  }
  return count / Math.max(1, length - 1);
}

const OTHER = 0;

function classOf(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return 1;
  if (code >= 0x41 && code <= 0x5a) return 2;
  return code >= 0x30 && code <= 0x39 ? 3 : OTHER;
}

/** The characters to decode first, a multiple of 4: hardly any random bytes begin with that much text. */
const HEAD = 1024;

const isText = (run: string): boolean => isTextually(run.slice(0, HEAD)) && isTextually(run);

const isTextually = (run: string): boolean =>
  /^[\t\n\r\x20-\x7e]+$/.test(Buffer.from(run, 'base64').toString('latin1'));
