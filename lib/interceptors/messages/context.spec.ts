import fc from 'fast-check';
import type { McpCall } from '../../protocol/mcp-call.js';
import { contextOf } from './context.js';

describe('the context of a message', () => {
  afterEach(() => jest.useRealTimers());

  it('says when it is in the first second of all', () => {
    jest.useFakeTimers();
    jest.setSystemTime(250);
    expect(contextOf({} as McpCall).timestamp).toBe('1970-01-01T00:00:00.250Z');
  });

  it('says when it is, to the millisecond, whatever came before', () => {
    jest.useFakeTimers();
    const moment = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
    fc.assert(
      fc.property(fc.array(fc.oneof(moment, fc.integer({ min: 0, max: 3000 })), { minLength: 1 }), times => {
        for (const time of times) {
          jest.setSystemTime(time);
          expect(contextOf({} as McpCall).timestamp).toBe(new Date(time).toISOString());
        }
      }),
    );
  });
});
