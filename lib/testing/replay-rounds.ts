import { isDeepStrictEqual } from 'node:util';
import type { InputRequest } from '@modelcontextprotocol/server';
import { CurrentRound } from '../elicitation/replay/current-round.js';
import { copyOf, newJournal, withAnswers, type Journal } from '../elicitation/replay/journal.js';
import { Round } from '../elicitation/replay/round.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { McpContext } from '../execution/mcp-context.js';

/** The outcome of `replayRounds`: the result of a handler, and its input requests in each round. */
export interface ReplayedRounds<T> {
  /** The handler's result in the last round. */
  readonly result: T;
  /** The input requests of each round, by their keys. */
  readonly rounds: readonly Readonly<Record<string, InputRequest>>[];
}

type Handler<T> = (ctx: McpContext) => T | Promise<T>;

/** Copies the journal as JSON, as the client carries it. */
const travel = (journal: Journal): Journal => JSON.parse(JSON.stringify(journal)) as Journal;

/**
 * Runs a handler as a stateless server does: from the start in every round. Each round runs twice and must ask the same
 * input requests.
 * @param handler calls the handler with the given context: `ctx => tools.deploy({ service: 'shop' }, ctx)`
 * @param answers the client's answers by key: `{ region: { action: 'accept', content: { name: 'eu' } } }`
 * @throws Error for an input request that has no answer or has changed, MrtrError for other mistakes of the handler
 * @example
 * ```ts
 * const { result, rounds } = await replayRounds(ctx => tools.deploy({ service: 'shop' }, ctx), {
 *   region: { action: 'accept', content: { name: 'eu' } },
 * });
 * ```
 */
export async function replayRounds<T>(
  handler: Handler<T>,
  answers: Readonly<Record<string, unknown>> = {},
): Promise<ReplayedRounds<T>> {
  let journal = newJournal('test');
  const rounds: Record<string, InputRequest>[] = [];
  for (;;) {
    const first = await runRound(handler, journal);
    const again = await runRound(handler, { ...journal, ...learnt(first.journal) });
    if (!isDeepStrictEqual(first.asked, again.asked)) {
      throw new Error(
        `Round ${rounds.length + 1} asks other input requests when it runs again: expected ${JSON.stringify(first.asked)}, found ${JSON.stringify(again.asked)}`,
      );
    }
    if (first.asked === undefined) return { result: first.result as T, rounds };
    rounds.push(first.asked);
    const missing = Object.keys(first.asked).find(key => answerTo(key, answers) === undefined);
    if (missing !== undefined)
      throw new Error(
        `Round ${rounds.length} asks "${missing}", but "answers" has no answer for it; add one under this key`,
      );
    if (rounds.length > MAX_ROUNDS) throw new Error(`The handler asks for more than ${MAX_ROUNDS} rounds`);
    const responses = Object.fromEntries(Object.keys(first.asked).map(key => [key, answerTo(key, answers)]));
    journal = withAnswers(travel(first.journal ?? journal), responses);
  }
}

const MAX_ROUNDS = 50;

/** A repeated key in a loop (`size#2`) uses the answer of the first use, unless it has its own answer. */
const answerTo = (key: string, answers: Readonly<Record<string, unknown>>): unknown =>
  answers[key] ?? answers[key.replace(/#\d+$/, '')];

/** The results of a round that its second run must reuse. */
const learnt = (journal: Journal | undefined): Partial<Journal> =>
  journal ? { steps: travel(journal).steps, times: journal.times } : {};

interface Ended {
  readonly result?: unknown;
  readonly asked?: Record<string, InputRequest>;
  readonly journal?: Journal;
}

async function runRound(handler: Handler<unknown>, journal: Journal): Promise<Ended> {
  const call = callWith(copyOf(journal.given));
  const round = new Round(travel(journal), {
    where: 'the handler',
    onMismatch: 'error',
    reply: call.reply,
    onMistake: mistake => {
      throw mistake;
    },
    assertAskable: () => undefined,
  });
  const current = new CurrentRound(
    () => round,
    () => undefined,
  );
  current.begin();
  const context = new McpContext(call, NOBODY, current);
  const outcome = await current.run(async () => current.watch(() => handler(context)));
  if ('value' in outcome) return { result: outcome.value, journal: round.remember() };
  const { asking } = outcome;
  return { asked: await current.requests(asking), journal: round.remember(asking) };
}

const callWith = (inputResponses: Params | undefined): McpCall => ({
  requestId: 1,
  method: 'tools/call',
  params: {},
  era: 'modern',
  protocolVersion: '2026-07-28',
  reply: { signal: new AbortController().signal, notify: () => Promise.resolve() },
  ...(inputResponses && { inputResponses }),
});

const NOBODY: ChangeNotifier = {
  toolsChanged: () => undefined,
  promptsChanged: () => undefined,
  resourcesChanged: () => undefined,
  resourceUpdated: () => undefined,
};
