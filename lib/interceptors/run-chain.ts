import type { ChainParams } from './chain/params.js';
import type { ChainResult } from './chain/result.js';
import type { ChainSource } from './chain-source.js';
import { executeIn } from './merged-chain.js';
import { answerCheck, isServed, payloadCheck } from './messages/payload-check.js';
import type { InterceptionEvent } from './payloads.js';
import type { Direction, Phase } from './protocol/types.js';

/** One run, with the defaults of a server's own traffic. One deadline covers the whole run. */
export async function runChain(
  chain: ChainSource,
  event: InterceptionEvent,
  phase: Phase,
  given: Omit<ChainParams, 'event' | 'phase' | 'direction'> & { readonly direction?: Direction },
): Promise<{ result: ChainResult; direction: Direction }> {
  // Requests of the protocol arrive at the server. Other events are requests that the application sends.
  const comesIn = isServed(event) === (phase === 'request');
  const params = {
    direction: comesIn ? 'receive' : 'send',
    checkPayload: payloadCheck(event, phase),
    checkResponse: answerCheck(event),
    ...given,
    event,
    phase,
  } satisfies ChainParams;
  return { result: await executeIn(chain, params), direction: params.direction };
}
