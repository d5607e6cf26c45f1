import { canonicalUri } from './canonical-uri.js';
import { EVENT_OF, isInputEvent } from './events.js';
import { matchesAny, matchesGlob } from './glob.js';

/** What a message is about. */
export interface Subject {
  readonly kind: 'tool' | 'prompt' | 'resource';
  /** The tool's or prompt's name, or the resource's URI. */
  readonly name: string;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * What requests name, by their event. Callers may add members that others have, and would otherwise say themselves what
 * their message is about.
 */
const NAMED: Readonly<Record<string, (params: Json) => readonly [Subject['kind'], unknown]>> = {
  'tools/call': ({ name }) => ['tool', name],
  'prompts/get': ({ name }) => ['prompt', name],
  'resources/read': ({ uri }) => ['resource', uri],
  'resources/subscribe': ({ uri }) => ['resource', uri],
  'completion/complete': ({ ref }) => {
    const { type, name, uri } = (ref ?? {}) as Json;
    return type === 'ref/prompt' ? ['prompt', name] : ['resource', uri];
  },
};

const hasSubject = (event: string): boolean => Object.hasOwn(NAMED, event);

/** Whether an event's messages may be about something: all of the application's own, and of the protocol's those that are. */
export const mayHaveSubject = (event: string): boolean => hasSubject(event) || !isOfProtocol(event);

const isOfProtocol = (event: string): boolean => Object.hasOwn(EVENT_OF, event) || isInputEvent(event);

/** What a request, or the request of a result, is about; undefined where that is nothing that the protocol knows. */
export function subjectOf(event: string, params: unknown): Subject | undefined {
  if (!hasSubject(event) || typeof params !== 'object' || params === null) return undefined;
  const [kind, name] = NAMED[event](params as Json);
  return typeof name === 'string' ? { kind, name } : undefined;
}

/**
 * Whether a request, or the request of a result, is about something that one of the patterns means, in which `*` stands
 * for any characters. A URI has many spellings: rather too many are meant than too few. Of an event of the application's
 * own, its `name` or its `uri` is.
 */
export function isMeant(patterns: readonly string[], event: string, params: unknown): boolean {
  const subject = subjectOf(event, params);
  if (subject) {
    const { kind, name } = subject;
    return matchesAny(patterns, name) || (kind === 'resource' && isSpelt(patterns, canonicalUri(name)));
  }
  if (isOfProtocol(event)) return false;
  const { name, uri } = (params ?? {}) as Json;
  return [name, uri].some(one => typeof one === 'string' && matchesAny(patterns, one));
}

/** A canonical URI has lost its last slash, and so may have what a pattern says. */
const isSpelt = (patterns: readonly string[], canonical: string): boolean =>
  patterns
    .flatMap(pattern => [pattern.toLowerCase(), canonicalUri(pattern)])
    .some(pattern => matchesGlob(pattern, canonical) || matchesGlob(pattern, `${canonical}/`));
