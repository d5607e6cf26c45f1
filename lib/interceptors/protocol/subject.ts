import type { Params } from '../../protocol/mcp-call.js';
import { itemOf, METHODS } from '../../protocol/methods.js';
import { EVENT_OF, isInputEvent, isNotificationEvent } from './events.js';
import { matchesAny } from './glob.js';
import type { Phase } from './types.js';

export interface Subject {
  /** `own` marks an event of the application, whose `name` and `uri` fields name its subject. */
  readonly kind: 'tool' | 'prompt' | 'resource' | 'own';
  readonly name?: string;
  readonly uri?: string;
}

/** Every event of the application may have a subject, but only some events of the protocol. */
const hasSubject = (event: string): boolean => isOwn(event) || METHODS.get(event)?.names !== undefined;

const isOwn = (event: string): boolean =>
  !Object.hasOwn(EVENT_OF, event) && !isInputEvent(event) && !isNotificationEvent(event);

export function subjectOf(event: string, params: unknown): Subject | undefined {
  if (!hasSubject(event) || typeof params !== 'object' || params === null) return undefined;
  const { name, uri } = params as Params;
  if (isOwn(event)) return { kind: 'own', ...textIn('name', name), ...textIn('uri', uri) };
  const { kind, field, id } = itemOf(event, params as Params)!;
  return { kind: kind === 'resource template' ? 'resource' : kind, ...textIn(field, id) };
}

const textIn = (field: 'name' | 'uri', value: unknown): Partial<Subject> =>
  typeof value === 'string' ? { [field]: value } : {};

interface Message {
  readonly event: string;
  readonly phase: Phase;
  readonly payload: unknown;
  readonly request?: unknown;
}

/** @throws Error, when called, for a result without its request, as in `interceptor/invoke` */
export function aboutAny(patterns: readonly string[]): (message: Message) => boolean {
  const spelt = patterns.flatMap(pattern => [pattern, pattern.toLowerCase(), canonicalUri(pattern)]);
  return ({ event, phase, payload, request }) => {
    const params = phase === 'request' ? payload : request;
    if (params === undefined && hasSubject(event))
      throw new Error('the subject of the result is unknown, because its request is missing');
    const { name, uri } = subjectOf(event, params) ?? {};
    return (
      (name !== undefined && matchesAny(patterns, name)) ||
      (uri !== undefined && spellingsOf(uri).some(spelling => matchesAny(spelt, spelling)))
    );
  };
}

/** A canonical URI lacks trailing slashes and a default port, but a pattern may contain them. */
function spellingsOf(uri: string): string[] {
  const canonical = canonicalUri(uri);
  const stems = [canonical, withPort(canonical)];
  return [uri, uri.toLowerCase(), ...stems.flatMap(stem => ['', '/', '//', '///'].map(end => stem + end))];
}

const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ws: 80, wss: 443, ftp: 21 };

const withPort = (uri: string): string =>
  uri.replace(
    /^(https?|wss?|ftp):\/\/(?:\[[^\]]*\]|[^/:?]*)(?=[/?]|$)/,
    (origin, scheme: string) => `${origin}:${PORTS[scheme]}`,
  );

const MAX_DECODINGS = 4;

/**
 * One form for all spellings of a URI. It equates too many URIs rather than too few, because it protects hidden
 * resources.
 */
export function canonicalUri(uri: string): string {
  const decoded = decode(uri).replaceAll('\\', '/');
  return decode(normalised(decoded))
    .normalize('NFKC')
    .toLowerCase()
    .replace(/(?<!:)\/{2,}/g, '/')
    .replace(/\/+$/, '');
}

function normalised(uri: string): string {
  try {
    const url = new URL(uri);
    url.hash = '';
    url.username = '';
    url.password = '';
    return url.href;
  } catch {
    return uri;
  }
}

function decode(text: string): string {
  let decoded = text;
  for (let round = 0; round < MAX_DECODINGS; round++) {
    const before = decoded;
    // Bytes that are not UTF-8 stay as they are.
    decoded = decoded.replace(/(%[\da-f]{2})+/gi, piece => {
      try {
        return decodeURIComponent(piece);
      } catch {
        return piece;
      }
    });
    if (decoded === before) break;
  }
  return decoded;
}
