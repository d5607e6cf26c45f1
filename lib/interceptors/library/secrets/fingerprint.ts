import { fold } from './normalise.js';

const MIN_LENGTH = 6;
/** A secret of two parts or more is known by each of its parts. */
const PART = 16;
const MAX_PARTS = 256;
/** Keys of one algorithm begin alike. */
const PEM_PREAMBLE = 64;

/** Parts by which a folded secret is recognised: 31 characters in a row are enough. Leaves out common heads. */
export function fingerprintOf(kind: string, secret: string): string[] {
  const folded = fold(core(kind, secret));
  if (folded.length < MIN_LENGTH) return [];
  if (folded.length < 2 * PART) return [folded];
  const parts: string[] = [];
  for (let at = 0; at < folded.length && parts.length < MAX_PARTS; at += PART) {
    const start = Math.min(at, folded.length - PART);
    parts.push(folded.slice(start, start + PART));
  }
  return parts;
}

function core(kind: string, secret: string): string {
  if (kind === 'jwt') {
    const [, payload, signature] = secret.split('.');
    return signature || payload;
  }
  if (kind === 'url-credentials') return secret.slice(secret.indexOf(':') + 1);
  if (kind !== 'private-key') return secret;
  const body = fold(secret.replace(/-----[^-]*-----/g, ''));
  return body.length > 2 * PEM_PREAMBLE ? body.slice(PEM_PREAMBLE) : body;
}
