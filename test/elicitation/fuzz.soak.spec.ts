import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { McpException } from 'nestjs-mcp';
import type { Entry } from '../../lib/catalog/entries.js';
import { inputRequest } from '../../lib/elicitation/requests/input-request.js';
import type { MrtrSettings } from '../../lib/elicitation/mrtr-options.js';
import { InvalidStateError, RequestState } from '../../lib/elicitation/state/request-state.js';
import { Rounds } from '../../lib/elicitation/rounds.js';
import type { McpCall } from '../../lib/protocol/mcp-call.js';
import { soakSize } from '../fixtures/soak.js';

/** Of each of the four properties. */
const CASES = soakSize(25_000, 1000);

const SETTINGS: MrtrSettings = {
  secrets: ['a secret of more than thirty-two bytes'],
  ttlSeconds: 600,
  encrypt: false,
  maxStateBytes: 16_384,
  maxJournalBytes: 1_048_576,
  singleUse: false,
  maxRounds: 10,
  onMismatch: 'error',
  suspension: { maxPerSession: 1, maxPerCaller: 1, maxTotal: 1, idleTimeoutMs: 1 },
};
const FORM = inputRequest.elicit({
  message: 'Which?',
  schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
});
const ENTRY = { where: 'Tools.ask', key: 'ask', version: '1' } as Entry;

beforeAll(() => Logger.overrideLogger(false));
afterAll(() => Logger.overrideLogger(['error']));

describe.each([
  ['signed', false],
  ['encrypted', true],
])('a %s state', (_, encrypt) => {
  const states = new RequestState({ ...SETTINGS, encrypt });

  it('comes back as it was, for its own binding alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.string(), fc.string(), async (value, binding, other) => {
        const state = await states.seal(value, binding);
        expect(await states.open(state, binding)).toEqual(JSON.parse(JSON.stringify(value)));
        if (other !== binding) await expect(states.open(state, other)).rejects.toThrow(InvalidStateError);
      }),
      { numRuns: CASES / 50 },
    );
  });

  it('is refused where anything of it is changed, and whatever else comes in its place', async () => {
    const sealed = await states.seal({ answers: { region: 'eu' } }, 'jo');
    const forged = fc.oneof(
      fc.string(),
      fc.base64String().map(text => `v1.${text}.${text}`),
      fc.anything(),
      fc
        .tuple(fc.nat(sealed.length - 1), fc.constantFrom(...ALPHABET))
        .map(([at, letter]) => sealed.slice(0, at) + letter + sealed.slice(at + 1)),
      fc.tuple(fc.nat(sealed.length), fc.string()).map(([at, text]) => sealed.slice(0, at) + text),
    );
    await fc.assert(
      fc.asyncProperty(forged, async state => {
        if (isSame(state, sealed)) return;
        await expect(states.open(state, 'jo')).rejects.toThrow(InvalidStateError);
      }),
      { numRuns: CASES },
    );
  }, 400_000);
});

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ é'.split('');

/** The last letter of a text in Base64 can hold bits that say nothing. */
const isSame = (state: unknown, sealed: string): boolean =>
  typeof state === 'string' &&
  state.split('.').length === 3 &&
  state.split('.')[0] === 'v1' &&
  state.split('.')[1] === sealed.split('.')[1] &&
  Buffer.from(state.split('.')[2], 'base64url').equals(Buffer.from(sealed.split('.')[2], 'base64url'));

describe('a round', () => {
  const rounds = new Rounds('fuzz', SETTINGS);
  const exchange = (requestState: unknown, inputResponses: unknown): McpCall => ({
    requestId: 1,
    method: 'tools/call',
    params: { name: 'ask' },
    era: 'modern',
    protocolVersion: '2026-07-28',
    clientCapabilities: { elicitation: {} },
    inputResponses: inputResponses as McpCall['inputResponses'],
    requestState,
    reply: { signal: new AbortController().signal, notify: () => Promise.resolve() },
  });
  const run = (requestState: unknown, inputResponses: unknown) =>
    rounds.run(ENTRY, exchange(requestState, inputResponses), async current =>
      current.watch(() => current.begin().ask('region', () => FORM)),
    );

  it('takes no answer but one that the form admits, whatever comes as inputResponses', async () => {
    const first = await run(undefined, undefined);
    const { requestState } = (first as { required: { requestState: string } }).required;
    const answer = fc.oneof(
      fc.anything(),
      fc.record({ action: fc.constantFrom('accept', 'decline', 'cancel', 'maybe'), content: fc.anything() }),
      fc.record({ roots: fc.anything() }),
      fc.record({ role: fc.string(), content: fc.anything(), model: fc.string() }),
    );
    const responses = fc.oneof(
      fc.dictionary(fc.constantFrom('region', 'other', '__proto__', 'constructor'), answer),
      fc.record({ region: answer }),
    );
    await fc.assert(
      fc.asyncProperty(responses, async inputResponses => {
        try {
          const result = await run(requestState, inputResponses);
          if ('required' in result) {
            expect(Object.hasOwn(inputResponses, 'region')).toBe(false);
            return;
          }
          const { action, content } = result.value as { action: string; content?: { name: unknown } };
          expect(['accept', 'decline', 'cancel']).toContain(action);
          if (action === 'accept') expect(typeof content!.name).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(McpException);
          expect((error as McpException).code).toBe(-32602);
        }
      }),
      { numRuns: CASES },
    );
  }, 400_000);

  it('believes no state that it did not seal', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.base64String(), fc.anything()), async state => {
        if (state === undefined) return;
        await expect(run(state, {})).rejects.toMatchObject({
          code: -32602,
          message: 'Invalid or expired requestState',
        });
      }),
      { numRuns: CASES },
    );
  }, 400_000);
});
