/** Why a request ended without its answer. */
export type Abortion = 'cancelled' | 'timeout' | 'shutdown';

/** The end of a request: a result, an error, or an abortion before either. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown; readonly aborted?: Abortion };

/** One observed request, from start to end. */
export interface Observation {
  /** Runs work of the request, such as its handler, in the context of the request. */
  run<T>(work: () => T): T;
  /** The params to send, with the trace context if it exists. */
  outgoing<P extends object | undefined>(params: P): P;
  /** Ends the observation. Only the first end counts. */
  end(outcome: Outcome): void;
}
