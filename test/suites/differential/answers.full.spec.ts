import { startPair, type Pair } from './apps.js';
import { SESSIONS } from './cases/sessions.js';
import { INITIALIZE, SESSION_STEPS } from './cases/steps.js';
import { Comparison } from './compare.js';
import { CORPUS } from './corpus.js';
import { mutatedSessions, mutations } from './mutate.js';
import { compareAll, compareSessions } from './run.js';

/** Of a server that answers the 2025 era otherwise, what is not a request of 2026-07-28. */
const OTHER_ERA = CORPUS.filter(({ headers }) => headers['mcp-protocol-version'] !== '2026-07-28');

/** The differential test: every request is answered as the SDK's own handler answers it, over the same handlers. */
describe('an answer is the one of the SDK', () => {
  const comparison = new Comparison();
  let pair: Pair;
  afterEach(() => pair.close());

  it('to each request of the corpus', async () => {
    pair = await startPair('sessions', 'express');
    await compareAll(pair, CORPUS, comparison);
    expect(comparison.findings).toEqual([]);
  }, 120_000);

  it.each([
    ['reject', 'fastify'],
    ['stateless', 'node'],
  ] as const)(
    'to the 2025 era, with "legacy" as "%s", on %s',
    async (legacy, platform) => {
      pair = await startPair(legacy, platform);
      await compareAll(pair, [...OTHER_ERA, ...mutations(OTHER_ERA, 100, 1)], comparison);
      expect(comparison.findings).toEqual([]);
    },
    120_000,
  );

  it('in sessions, from the beginning to the end', async () => {
    pair = await startPair('sessions', 'express');
    await compareSessions(pair, SESSIONS, comparison);
    await compareSessions(pair, mutatedSessions(SESSION_STEPS, INITIALIZE, 20, 1), comparison);
    expect(comparison.findings).toEqual([]);
  }, 120_000);

  it('but for differences that are deliberate, each of which the corpus meets', () => {
    expect(comparison.unused).toEqual([]);
  });
});
