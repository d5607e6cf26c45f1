import { CALL } from './interceptors.js';
import { timeEach, toolCall, type Load } from './load.js';
import { ANSWER } from './mrtr-question.js';
import { median, type Effort } from './ratio.js';
import type { Line } from './report.js';
import { startServer } from './server-process.js';

type Kind = 'plain' | 'first' | 'second';

/** What a round costs over a call that asks nothing: one that ends with a question, and one that brings the answer. */
export async function benchMrtrHttp({ rounds, roundMs }: Effort): Promise<Line[]> {
  const measured: Record<Kind, number>[] = [];
  // One process can be slower than another of the same code for as long as it lives: each round has a new one.
  for (let round = 0; round < rounds; round++) measured.push(await oneRound(round, roundMs));
  const all = (kind: Kind) => measured.map(times => times[kind]);
  const line = (name: string, kind: Kind): Line => ({
    name: `${name} over HTTP / a call that asks nothing`,
    bound: 2,
    subjectUs: median(all(kind)),
    baselineUs: median(all('plain')),
    ratio: median(measured.map(times => times[kind] / times.plain)),
  });
  return [line('a round that asks', 'first'), line('a round that is answered', 'second')];
}

async function oneRound(round: number, roundMs: number): Promise<Record<Kind, number>> {
  const { url, stop } = await startServer('mrtr-server.js');
  try {
    const call = { name: 'asking', arguments: CALL.arguments };
    const first = toolCall(url, call, '"resultType":"input_required"');
    const requestState = await stateOf(first);
    const answered = { ...call, requestState, inputResponses: { region: ANSWER } };
    const second = toolCall(url, answered, 'To eu: Ring twice');
    const plain = toolCall(url, { ...call, name: 'plain' }, second.says);
    return await timeEach({ plain, first, second }, round, roundMs);
  } finally {
    stop();
  }
}

/** What a client has to bring back with its answer. */
async function stateOf({ url, headers, body }: Load): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const { result } = (await response.json()) as { result: { requestState: string } };
  return result.requestState;
}
