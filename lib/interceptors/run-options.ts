import type { ChainParams } from './chain/params.js';

/**
 * Options of one run. `config`, `timeoutMs` and the checks of payloads and answers default to the server's own. By
 * default, `direction` is that of the server's traffic for events that it serves: `tools/call` requests are received.
 * For other events it is that of a call which the application makes: requests are sent.
 */
export interface RunOptions extends Partial<Omit<ChainParams, 'event' | 'phase' | 'payload' | 'simulate'>> {
  /** The server whose chain it is. Default: the first one. */
  server?: string;
}
