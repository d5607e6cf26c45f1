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
