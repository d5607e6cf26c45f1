import type { Pair } from './apps.js';
import type { Comparison } from './compare.js';
import { withStates } from './corpus.js';
import { Player, type Sequence } from './play.js';
import type { Answer, Sender, Sent } from './send.js';

const AT_ONCE = 8;

/** Does work for all of these, some of them at the same time. */
export async function forAll<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Sends each request to both servers. */
export async function compareAll(
  pair: Pair,
  requests: Iterable<Sent>,
  comparison: Comparison,
): Promise<void> {
  const fill = await withStates(pair);
  await forAll(requests, async request => {
    const filled = fill(request);
    const [reference, ours] = await Promise.all([pair.reference.send(filled), pair.ours.send(filled)]);
    comparison.add(filled, reference, ours);
  });
}

/** Plays each session against both servers. */
export async function compareSessions(
  pair: Pair,
  sessions: Iterable<Sequence>,
  comparison: Comparison,
): Promise<void> {
  await forAll(sessions, async session => {
    const [reference, ours] = await Promise.all([play(pair.reference, session), play(pair.ours, session)]);
    const isOpen = session.initialize && reference[0].headers['mcp-session-id'];
    const inSession = (step: Sent): Sent => ({
      ...step,
      headers: { ...(isOpen && { 'mcp-session-id': '<uuid>' }), ...step.headers },
    });
    const sent = [...session.steps, END].map(inSession);
    if (session.initialize) sent.unshift(session.initialize);
    sent.forEach((request, index) => comparison.add(request, reference[index], ours[index], session.name));
  });
}

const END: Sent = { method: 'DELETE', headers: {} };

async function play(sender: Sender, session: Sequence): Promise<Answer[]> {
  try {
    return await new Player(sender).play(session);
  } catch (cause) {
    const steps = JSON.stringify(session.steps);
    throw new Error(`A session could not be played against ${sender.url}: ${session.name}, ${steps}`, {
      cause,
    });
  }
}
