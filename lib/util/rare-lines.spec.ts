import { jest } from '@jest/globals';
import { RareLines } from './log-line.js';

describe('RareLines', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('writes a kind of line once a minute, with the number of those left out', () => {
    jest.useFakeTimers();
    const rare = new RareLines();
    expect(rare.line('a', 'it crashed')).toBe('it crashed');
    expect(rare.line('a', 'it crashed')).toBeUndefined();
    expect(rare.line('a', 'it crashed')).toBeUndefined();
    expect(rare.line('b', 'another')).toBe('another');
    jest.advanceTimersByTime(60_000);
    expect(rare.line('a', 'it crashed')).toBe('it crashed (and 2 times before)');
  });
});
