import { PLATFORMS } from '../../fixtures/matrix.js';
import { soakSize } from '../../fixtures/soak.js';
import { startPair, type Pair } from './apps.js';
import { INITIALIZE, SESSION_STEPS } from './cases/steps.js';
import { Comparison } from './compare.js';
import { CORPUS } from './corpus.js';
import { mutatedSessions, mutations } from './mutate.js';
import { compareAll, compareSessions } from './run.js';

const RUNS = PLATFORMS.flatMap((platform, index) =>
  (['sessions', 'stateless', 'reject'] as const).map((legacy, at) => ({
    platform,
    legacy,
    seed: 3 * index + at,
  })),
);

/** The differential test over random changes of its corpus: at least 20,000 requests, and 5,000 in sessions. */
describe('an answer is the one of the SDK', () => {
  let pair: Pair;
  afterEach(() => pair.close());

  it.each(RUNS)(
    'on $platform, with "legacy" as "$legacy"',
    async ({ platform, legacy, seed }) => {
      pair = await startPair(legacy, platform);
      const comparison = new Comparison();
      await compareAll(pair, mutations(CORPUS, soakSize(2_300, 100), seed), comparison);
      expect(comparison.findings).toEqual([]);
    },
    600_000,
  );

  it.each(PLATFORMS)(
    'in sessions on %s',
    async platform => {
      pair = await startPair('sessions', platform);
      const comparison = new Comparison();
      const seed = 100 + PLATFORMS.indexOf(platform);
      await compareSessions(
        pair,
        mutatedSessions(SESSION_STEPS, INITIALIZE, soakSize(210, 10), seed),
        comparison,
      );
      expect(comparison.findings).toEqual([]);
    },
    600_000,
  );
});
