import { resolveOptions } from '../module/resolve-server-options.js';

const capsOf = (options: object) => {
  const { sessions, calls, http, mrtr } = resolveOptions({ name: 'test', version: '1', ...options });
  return { sessions, calls, http, suspension: mrtr.suspension };
};

describe('the caps of a caller', () => {
  it.each([
    [{ sessions: { max: 5 } }, { sessions: { max: 5, maxPerCaller: 2 } }],
    [{ calls: { max: 10 } }, { calls: { max: 10, maxPerCaller: 5 } }],
    [{ http: { maxListeners: 10 } }, { http: { maxListeners: 10, maxListenersPerCaller: 5 } }],
    [{ mrtr: { suspension: { maxTotal: 10 } } }, { suspension: { maxTotal: 10, maxPerCaller: 5 } }],
    [{ sessions: { maxPerCaller: 5000 } }, { sessions: { max: 1000, maxPerCaller: 500 } }],
  ])('are half of a cap of all callers that is below them: %j', (options, caps) => {
    expect(capsOf(options)).toMatchObject(caps);
  });

  it.each([
    [{ sessions: { max: 5, maxPerCaller: 6 } }, { sessions: { max: 5, maxPerCaller: 6 } }],
    [{ sessions: { max: 100 } }, { sessions: { max: 100, maxPerCaller: 100 } }],
    [{ calls: { max: 1 } }, { calls: { max: 1, maxPerCaller: 256 } }],
  ])('stay if both are given, or if there is nothing to share: %j', (options, caps) => {
    expect(capsOf(options)).toMatchObject(caps);
  });
});
