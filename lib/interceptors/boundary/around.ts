import type { Result } from '@modelcontextprotocol/server';
import type { ChainResult } from '../chain/result.js';
import type { Phase } from '../protocol/types.js';
import { marked, synthetic } from './answers.js';

export type RunMessage = (
  phase: Phase,
  payload: unknown,
  request?: unknown,
) => ChainResult | Promise<ChainResult>;

/** Runs both phases and, between them, the work, unless an interceptor answers. */
export async function around<P>(
  method: string,
  params: P,
  run: RunMessage,
  work: (params: P) => Promise<Result>,
): Promise<Result> {
  const { finalPayload, response } = await run('request', params);
  const sent = finalPayload as P;
  const answer = response ? synthetic(method, response) : await work(sent);
  const final = (await run('response', answer, sent)).finalPayload as Result;
  // A mutator may have made another result, without the mark.
  return response ? marked(final, response) : final;
}
