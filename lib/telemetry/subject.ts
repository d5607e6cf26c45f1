import { itemOf, METHODS, REQUESTS } from '../protocol/methods.js';
import type { NamedKind, TrafficPoint, TrafficRequest } from '../protocol/traffic-listener.js';
import { clipped } from '../util/clipped.js';
import { OTHER } from './conventions.js';
import { withoutSecrets } from './recording.js';

/** The method of a request, and the tool, prompt or resource that it names. */
export interface Subject {
  /** The method, unless a caller made it up. */
  readonly method: string;
  readonly tool?: string;
  readonly prompt?: string;
  /** Without user information, query and fragment, which can hold secrets. */
  readonly uri?: string;
}

/** Most characters of a name, a URI or the id of a request. */
export const MAX_LENGTH = 1000;

export function subjectOf({ method, params = {} }: TrafficRequest, point: TrafficPoint): Subject {
  // A completion counts as such, and not for the prompt whose arguments it completes.
  const item = METHODS.get(method)?.names === 'ref' ? undefined : itemOf(method, params);
  if (!item) {
    const exists = REQUESTS.has(method) || point.isOwnMethod?.(method) === true;
    return { method: exists ? method : OTHER };
  }
  const { kind, id } = item;
  return kind === 'tool' || kind === 'prompt' ? { method, [kind]: textOf(id) } : { method, uri: uriOf(id) };
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? clipped(value, MAX_LENGTH) : undefined;

const uriOf = (value: unknown): string | undefined => {
  const uri = textOf(value)
    ?.replace(/^([a-z][\w+.-]*:\/\/)[^/?#]*@/i, '$1REDACTED@')
    .replace(/([?#]).*$/s, '$1REDACTED');
  return uri && withoutSecrets(uri);
};

/** The revision that `initialize` agreed on. Only its answer names it. */
export function agreedVersion({ method }: Subject, result: unknown): string | undefined {
  if (method !== 'initialize') return undefined;
  return textOf((result as { protocolVersion?: unknown } | undefined)?.protocolVersion);
}

/** Most names that are learnt at one place. */
const MAX_NAMES = 1000;

/**
 * Tools and prompts that exist. A server knows its own. A gateway knows those that its backends have listed. A gateway and a
 * client also learn a name from its first successful answer, so that a caller cannot invent one.
 */
export class KnownNames {
  private readonly learnt = new Set<string>();

  constructor(private readonly point: TrafficPoint) {}

  /** Whether the tool or prompt of a request exists. */
  hasNameOf({ tool, prompt }: Subject): boolean {
    if (tool !== undefined) return this.has('tool', tool);
    return prompt !== undefined && this.has('prompt', prompt);
  }

  /** A request for this tool or prompt has succeeded. */
  learn({ tool, prompt }: Subject): void {
    if (this.point.isKnown || this.learnt.size >= MAX_NAMES) return;
    if (tool !== undefined) this.learnt.add(`tool ${tool}`);
    else if (prompt !== undefined) this.learnt.add(`prompt ${prompt}`);
  }

  private has(kind: NamedKind, name: string): boolean {
    const { point } = this;
    if (point.isKnown) return point.isKnown(kind, name);
    return this.learnt.has(`${kind} ${name}`) || point.isListed?.(kind, name) === true;
  }
}
