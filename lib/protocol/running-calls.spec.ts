import { deferred } from '../../test/fixtures/deferred.js';
import type { McpException } from '../exceptions/mcp.exception.js';
import { type LateCalls, RunningCall, RunningCalls } from './running-calls.js';

class Call extends RunningCall {
  readonly errors: string[] = [];

  constructor(caller = '192.0.2.1') {
    super(caller);
  }

  override notify = () => Promise.resolve();
  protected override fail = ({ message }: McpException) => void this.errors.push(message);
  ask = (answer: Promise<void>) => this.asked(() => answer);
}

const callsFor = (timeoutMs: number, late: Partial<LateCalls> = {}) => {
  const nothing = () => undefined;
  const caps = { max: 10, maxPerCaller: 1, maxHanging: 4 };
  return new RunningCalls({ ...caps, timeoutMs }, { overdue: nothing, hanging: nothing, ...late });
};

describe('calls that run', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const start = (timeoutMs = 1000, late?: Partial<LateCalls>) => {
    const running = callsFor(timeoutMs, late);
    const call = new Call();
    running.add(call);
    return { running, call };
  };

  it('end when they have run for too long, each once', () => {
    const overdue = jest.fn();
    const { running, call } = start(1000, { overdue });
    const other = new Call('["other"]');
    running.add(other);
    jest.advanceTimersByTime(1000);
    expect(call.signal.aborted).toBe(false);
    jest.advanceTimersByTime(50);
    expect(call.signal.aborted).toBe(true);
    expect(call.errors).toEqual(['The call did not finish within 1000 ms']);
    jest.advanceTimersByTime(5000);
    expect([...call.errors, ...other.errors]).toHaveLength(2);
    expect(overdue.mock.calls).toEqual([[[call, other]]]);
  });

  it('count until their handlers end', () => {
    const { running, call } = start();
    jest.advanceTimersByTime(1050);
    expect(() => running.add(new Call())).toThrow('Too many calls');
    running.delete(call);
    running.add(new Call());
  });

  it.each([
    ['answered because they ran for too long', () => undefined],
    ['cancelled', (call: Call) => call.abort()],
  ])('no longer count when they go on for too long after they were %s', (_end, end) => {
    const hanging = jest.fn();
    const { running, call } = start(1000, { hanging });
    end(call);
    jest.advanceTimersByTime(call.isEnded ? 1000 : 2050);
    expect(() => running.add(new Call())).toThrow('Too many calls');
    // Whatever the handler reports now, its time goes on.
    call.extend();
    jest.advanceTimersByTime(50);
    expect(hanging.mock.calls).toEqual([[[call]]]);
    expect([running.limit.size, running.hanging.size, jest.getTimerCount()]).toEqual([0, 1, 0]);
    const next = new Call();
    running.add(next);
    running.delete(next);
    running.delete(call);
    expect([running.limit.size, running.hanging.size]).toEqual([0, 0]);
  });

  it('that hang stop a caller with half of what may hang, and all callers in the end', async () => {
    const { running } = start();
    const [one, other, third] = ['["one"]', '["other"]', '["third"]'];
    const hang = (caller: string) => {
      const call = new Call(caller);
      running.add(call);
      jest.advanceTimersByTime(2100);
      return call;
    };
    const calls = [hang(one), hang(one)];
    expect(running.refusal(one)).toMatchObject({ status: 429 });
    calls.push(hang(other));
    // With the first, of an address, they are as many as may hang.
    expect(running.refusal(third)).toMatchObject({ status: 503 });
    expect(() => hang(third)).toThrow('Too many calls that do not end: the limit of the server is reached');
    // They have been answered: nothing waits for them.
    await running.shutDown(1_000_000);
    running.delete(calls[2]);
    expect(running.refusal(third)).toBeUndefined();
  });

  it('have their time again after progress', () => {
    const { call } = start();
    for (let times = 0; times < 3; times++) {
      jest.advanceTimersByTime(900);
      call.extend();
    }
    expect(call.errors).toEqual([]);
    jest.advanceTimersByTime(1050);
    expect(call.errors).toHaveLength(1);
  });

  it('do not use up their time while their client is asked', async () => {
    const { call } = start();
    jest.advanceTimersByTime(600);
    const answer = deferred();
    const asked = call.ask(answer.promise);
    jest.advanceTimersByTime(10_000);
    answer.resolve();
    await asked;
    jest.advanceTimersByTime(400);
    expect(call.errors).toEqual([]);
    jest.advanceTimersByTime(50);
    expect(call.errors).toHaveLength(1);
  });

  it('run for ever where no time is set', () => {
    const { call } = start(0);
    jest.advanceTimersByTime(86_400_000);
    expect(call.errors).toEqual([]);
  });

  it('share one timer, which ends after them', () => {
    const { running, call } = start();
    for (let one = 0; one < 5; one++) running.add(new Call(`["${one}"]`));
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(1500);
    for (const one of [...(running as unknown as { work: Set<Call> }).work]) running.delete(one);
    running.delete(call);
    jest.advanceTimersByTime(50);
    expect(jest.getTimerCount()).toBe(0);
    running.add(call);
    expect(jest.getTimerCount()).toBe(1);
  });
});
