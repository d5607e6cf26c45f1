import { inputRequest } from '../../dist/cjs/input/input-request.js';
import { newJournal, withAnswers, type Journal } from '../../dist/cjs/mrtr/replay/journal.js';
import { RequestState } from '../../dist/cjs/mrtr/state/request-state.js';
import { Round } from '../../dist/cjs/mrtr/replay/round.js';
import { ANSWER, QUESTION, SECRET } from './mrtr-question.js';
import { compare, type Effort } from './ratio.js';
import type { Line } from './report.js';

const ANY = Infinity;
/** How many calls are timed together. */
const BATCH = 5;
/** Whose call it is, and what for. */
const BINDING = '["bench","tools/call","asking",null,"the digest of its arguments"]';

/** What it costs to run a handler again past what was answered before, and to seal and open what a call remembers. */
export async function benchMrtr(effort: Effort): Promise<Line[]> {
  const line = async (name: string, bound: number, subject: Work, baseline: Work): Promise<Line> => ({
    name,
    bound,
    ...(await compare(subject, baseline, effort, BATCH)),
  });
  const [one, ten, fifty] = await Promise.all([1, 10, 50].map(recorded));
  const [signed, encrypted] = [false, true].map(statesOf);
  return [
    await line('1 recorded answer / its question and answer read by hand', ANY, replay(one), byHand),
    // As many answers on both sides, so that both take as long and the machine interrupts them as often.
    await line('10 recorded answers / 10 times 1', 1.2, replay(ten), times(10, replay(one))),
    await line('50 recorded answers / 5 times 10', 1.2, replay(fifty), times(5, replay(ten))),
    await line('50 answers sealed / 10', 6, signed.seal(fifty), signed.seal(ten)),
    await line('50 answers opened / 10', 6, await signed.open(fifty), await signed.open(ten)),
    await line('10 answers sealed, encrypted / signed', 3, encrypted.seal(ten), signed.seal(ten)),
    await line('10 answers opened, encrypted / signed', 3, await encrypted.open(ten), await signed.open(ten)),
  ];
}

type Work = () => Promise<unknown>;

/** What a call remembers whose handler has asked these questions, all of which are answered. */
interface Recorded {
  readonly keys: readonly string[];
  readonly journal: Journal;
}

const { signal } = new AbortController();
const roundOf = (journal: Journal): Round =>
  new Round(journal, {
    where: 'Orders.asking',
    onMismatch: 'error',
    signal,
    onMistake: mistake => console.error(mistake),
    assertAskable: () => undefined,
  });

const ask = (round: Round, key: string) => round.ask(key, () => inputRequest.elicit(QUESTION));

async function recorded(count: number): Promise<Recorded> {
  const keys = Array.from({ length: count }, (_, index) => `region-${index}`);
  const round = roundOf(newJournal('1'));
  await Promise.allSettled(keys.map(key => ask(round, key)));
  round.close('error');
  const asked = round.remember()!;
  return { keys, journal: withAnswers(asked, Object.fromEntries(keys.map(key => [key, ANSWER]))) };
}

/** The handler's run in the round in which it gets to its end. */
function replay({ keys, journal }: Recorded): Work {
  const handler = async (round: Round) => {
    for (const key of keys) await ask(round, key);
  };
  return async () => {
    const round = roundOf(journal);
    await handler(round);
    round.settle('value');
    round.close('value');
  };
}

/** What of a replay is the question's and the answer's own. */
const byHand: Work = async () => {
  const prepared = await inputRequest.elicit(QUESTION).prepare();
  return prepared.read(ANSWER);
};

const times =
  (count: number, work: Work): Work =>
  async () => {
    for (let run = 0; run < count; run++) await work();
  };

function statesOf(encrypt: boolean) {
  const states = new RequestState({
    secrets: [SECRET],
    ttlSeconds: 600,
    encrypt,
    maxStateBytes: 16_384,
    maxJournalBytes: 1_048_576,
    singleUse: false,
  });
  const seal = ({ journal }: Recorded) => states.seal(journal, BINDING);
  return {
    seal: (what: Recorded) => () => seal(what),
    open: async (what: Recorded) => {
      const state = await seal(what);
      return () => states.open(state, BINDING);
    },
  };
}
