export interface ApiError {
  readonly error: string;
}

export type Era = 'modern' | 'legacy';

/** `method`: a method that an extension answers. */
export type Kind = 'tool' | 'prompt' | 'resource' | 'resource template' | 'completion' | 'method';

export type Json = Readonly<Record<string, unknown>>;
