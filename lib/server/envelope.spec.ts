import fc from 'fast-check';
import { isEnvelope } from './wire-codec.js';

const KEY = 'io.modelcontextprotocol/';
const envelope = (fields: Record<string, unknown>) => ({
  ...Object.fromEntries(
    Object.entries({ protocolVersion: '2026-07-28', clientCapabilities: {}, ...fields }).map(
      ([key, value]) => [key === 'progressToken' ? key : KEY + key, value],
    ),
  ),
});
const clientInfo = { name: 'one', version: '1' };

describe('the envelope of a request', () => {
  it.each<[string, Record<string, unknown>, boolean]>([
    ['a client', { clientInfo }, true],
    ['no client', {}, true],
    ['null as the client, after no client', { clientInfo: null }, false],
    ['null as the capabilities', { clientCapabilities: null }, false],
    ['a progress token that is a number', { clientInfo, progressToken: 1 }, true],
    ['a progress token that is a text', { clientInfo, progressToken: 'a' }, true],
    ['null as the progress token', { clientInfo, progressToken: null }, false],
    ['a log level', { clientInfo, logLevel: 'debug' }, true],
    ['an unknown log level', { clientInfo, logLevel: 'loud' }, false],
    ['another revision', { clientInfo, protocolVersion: '2025-11-25' }, false],
  ])('with %s', (_what, fields, isValid) => {
    expect(isEnvelope(envelope(fields))).toBe(isValid);
    expect(isEnvelope(envelope(fields))).toBe(isValid);
  });

  it('is judged by all of its fields if clients of one name differ', () => {
    const sent = (version: unknown, clientCapabilities: unknown) =>
      isEnvelope(envelope({ clientInfo: { name: 'one', version }, clientCapabilities }));
    for (let round = 0; round < 3; round += 1) {
      for (let version = 0; version < 20; version += 1) expect(sent(`${version}`, {})).toBe(true);
      expect(sent('1', { roots: {} })).toBe(true);
      expect(sent('1', null)).toBe(false);
      expect(sent(1, {})).toBe(false);
    }
  });

  it('is judged the same after any number of other clients', () => {
    const value = fc.option(fc.oneof(fc.string(), fc.record({ name: fc.string(), version: fc.string() })));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 700 }), infos => {
        for (const info of infos) {
          const isValid = typeof info === 'object' && info !== null;
          expect(isEnvelope(envelope({ clientInfo: info }))).toBe(isValid);
        }
      }),
      { numRuns: 20 },
    );
  });
});
