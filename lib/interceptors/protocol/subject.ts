import { canonicalUri } from './canonical-uri.js';
import { EVENT_OF, isInputEvent } from './events.js';
import { matchesAny } from './glob.js';
import type { Phase } from './types.js';

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
const mayHaveSubject = (event: string): boolean => hasSubject(event) || !isOfProtocol(event);

const isOfProtocol = (event: string): boolean => Object.hasOwn(EVENT_OF, event) || isInputEvent(event);

/** What a request, or the request of a result, is about; undefined where that is nothing that the protocol knows. */
export function subjectOf(event: string, params: unknown): Subject | undefined {
  if (!hasSubject(event) || typeof params !== 'object' || params === null) return undefined;
  const [kind, name] = NAMED[event](params as Json);
  return typeof name === 'string' ? { kind, name } : undefined;
}

/** What a message of an event of the application's own says by the members that the protocol's names and URIs have. */
export function ownSubjectOf(
  event: string,
  params: unknown,
): { readonly name?: string; readonly uri?: string } {
  if (isOfProtocol(event)) return {};
  const { name, uri } = (params ?? {}) as Json;
  return { ...(typeof name === 'string' && { name }), ...(typeof uri === 'string' && { uri }) };
}

/** A request with its params, or a result with its request's, where they are known. */
interface Message {
  readonly event: string;
  readonly phase: Phase;
  readonly payload: unknown;
  readonly request?: unknown;
}

/**
 * Whether a request, or the request of a result, is about something that one of the patterns means, in which `*` stands
 * for any characters. A URI has many spellings: rather too many are meant than too few. Of an event of the application's
 * own, its `name` or its `uri` is. What is made throws for a result of which it is not known what it is of, as in an
 * `interceptor/invoke`.
 */
export function aboutAny(patterns: readonly string[]): (message: Message) => boolean {
  const spelt = patterns.flatMap(pattern => [pattern.toLowerCase(), canonicalUri(pattern)]);
  const isPlace = (uri: string) => spellingsOf(uri).some(one => matchesAny(spelt, one));
  return ({ event, phase, payload, request }) => {
    const params = phase === 'request' ? payload : request;
    if (params === undefined && mayHaveSubject(event))
      throw new Error('it is not known what the result is of');
    const subject = subjectOf(event, params);
    const { name, uri } = subject ? membersOf(subject) : ownSubjectOf(event, params);
    return (
      (name !== undefined && matchesAny(patterns, name)) ||
      (uri !== undefined && (matchesAny(patterns, uri) || isPlace(uri)))
    );
  };
}

const membersOf = ({ kind, name }: Subject): { readonly name?: string; readonly uri?: string } =>
  kind === 'resource' ? { uri: name } : { name };

/** A canonical URI has lost its last slashes and a port that goes without saying, which a pattern may have. */
function spellingsOf(uri: string): string[] {
  const canonical = canonicalUri(uri);
  return [uri.toLowerCase(), ...['', '/', '//', '///'].map(end => canonical + end)];
}
