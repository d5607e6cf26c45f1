import { fold } from './normalise.js';

/** Shorter than this, what was folded is too common to stand for a secret. */
const MIN_LENGTH = 6;
/** A secret of two parts or more is known by each of its parts. */
const PART = 16;
const MAX_PARTS = 256;
/** What the keys of one algorithm begin with alike. */
const PEM_PREAMBLE = 64;

/**
 * What a secret is recognised by, folded: all of it or, from 32 characters, every 16 in turn, so that 31 characters of it
 * in a row are enough. What others of its kind have in common is left out: the head of a token, the lines around a key.
 */
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
