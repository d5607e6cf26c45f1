import type { Kind } from './shared.js';

export interface Findings {
  readonly findings: readonly Finding[];
}

export interface Finding {
  readonly rule:
    | 'no-description'
    | 'long-description'
    | 'name'
    | 'no-annotations'
    | 'schema'
    | 'hook-never-matches'
    | 'unguarded';
  readonly server: string;
  /** Absent for a finding about an interceptor. */
  readonly kind?: Kind;
  /** Name of the handler or interceptor. */
  readonly subject: string;
  readonly message: string;
  readonly remedy: string;
}
