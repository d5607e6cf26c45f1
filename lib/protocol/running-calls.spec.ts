import { deferred } from '../../test/fixtures/deferred.js';
import type { McpException } from '../exceptions/mcp.exception.js';
import { RunningCall, RunningCalls } from './running-calls.js';

class Call extends RunningCall {
  readonly errors: string[] = [];

  constructor(caller = '192.0.2.1') {
    super(caller);
  }

  override notify = () => Promise.resolve();
  protected override fail = ({ message }: McpException) => void this.errors.push(message);
  ask = (answer: Promise<void>) => this.asked(() => answer);
}

const callsFor = (timeoutMs: number, onOverdue: (count: number) => void = () => undefined) =>
  new RunningCalls({ max: 10, maxPerCaller: 10, maxPerAddress: 1, timeoutMs }, onOverdue);

describe('calls that run', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const start = (timeoutMs = 1000, onOverdue?: (count: number) => void) => {
    const running = callsFor(timeoutMs, onOverdue);
    const call = new Call();
    running.add(call);
    return { running, call };
  };

  it('end when they have run for too long, each once', () => {
    const onOverdue = jest.fn();
    const { running, call } = start(1000, onOverdue);
    const other = new Call('["other"]');
    running.add(other);
    jest.advanceTimersByTime(1000);
    expect(call.signal.aborted).toBe(false);
    jest.advanceTimersByTime(50);
    expect(call.signal.aborted).toBe(true);
    expect(call.errors).toEqual(['The call did not finish within 1000 ms']);
    jest.advanceTimersByTime(5000);
    expect([...call.errors, ...other.errors]).toHaveLength(2);
    expect(onOverdue.mock.calls).toEqual([[2]]);
  });

  it('count until their handlers end', () => {
    const { running, call } = start();
    jest.advanceTimersByTime(1050);
    expect(() => running.add(new Call())).toThrow('Too many calls');
    running.delete(call);
    running.add(new Call());
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
    jest.advanceTimersByTime(5000);
    for (const one of [...(running as unknown as { work: Set<Call> }).work]) running.delete(one);
    running.delete(call);
    jest.advanceTimersByTime(50);
    expect(jest.getTimerCount()).toBe(0);
    running.add(call);
    expect(jest.getTimerCount()).toBe(1);
  });
});
