import type { TrafficPoint, TrafficRequest } from '../protocol/traffic.js';
import { KNOWN_METHODS, OTHER } from './conventions.js';

/** What a request is about, as far as it may be told. */
export interface Subject {
  /** The method, unless a caller made it up. */
  readonly method: string;
  readonly tool?: string;
  readonly prompt?: string;
  readonly uri?: string;
}

/** Most characters of a name or a URI. */
const MAX_LENGTH = 1000;

export function subjectOf({ method, params }: TrafficRequest): Subject {
  switch (method) {
    case 'tools/call':
      return { method, tool: textOf(params?.['name']) };
    case 'prompts/get':
      return { method, prompt: textOf(params?.['name']) };
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return { method, uri: textOf(params?.['uri']) };
    default:
      return { method: KNOWN_METHODS.has(method) ? method : OTHER };
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, MAX_LENGTH) : undefined;

/** The most names that are learnt at one place. */
const MAX_NAMES = 1000;

/**
 * Which tools and prompts exist. A server knows its own. Where requests only pass through, a name counts once it was
 * answered with success: a caller cannot invent one.
 */
export class KnownNames {
  private readonly learnt = new Set<string>();

  constructor(private readonly point: TrafficPoint) {}

  has(kind: 'tool' | 'prompt', name: string): boolean {
    return this.point.isKnown?.(kind, name) ?? this.learnt.has(`${kind} ${name}`);
  }

  learn(kind: 'tool' | 'prompt', name: string): void {
    if (!this.point.isKnown && this.learnt.size < MAX_NAMES) this.learnt.add(`${kind} ${name}`);
  }
}
