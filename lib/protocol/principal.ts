/** The caller of a message, as interceptors see it. */
export interface Principal {
  /** A user, a program on its own behalf, or an unknown caller. */
  readonly type: 'user' | 'service' | 'anonymous';
  readonly id?: string;
  /** Further facts about the caller from the application's authentication. */
  readonly claims?: Readonly<Record<string, unknown>>;
}
