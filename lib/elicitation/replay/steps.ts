import { AsyncLocalStorage } from 'node:async_hooks';
import { copyOf, type RecordedStep } from './journal.js';
import { isRoundEnd } from '../requests/input-required.exception.js';
import type { ReportMistake } from '../mrtr.error.js';
import type { ReplayLog } from './replay-log.js';

type Kept = Pick<RecordedStep, 'value'>;

const running = new AsyncLocalStorage<{ readonly steps: Steps; readonly name: string }>();

export class Steps {
  /** The running steps. A retry of the handler waits for them. */
  private readonly begun = new Map<string, Promise<Kept>>();
  /** Counts the retries of the handler. */
  private runs = 0;

  constructor(
    private readonly log: ReplayLog,
    private readonly where: string,
    private readonly wrong: ReportMistake,
  ) {}

  get current(): string | undefined {
    const current = running.getStore();
    return current?.steps === this ? current.name : undefined;
  }

  /**
   * Returns a copy of the recorded or the new result of a step. @throws Error for a recorded failure
   * @param hold delays the end of the round until the step has ended
   */
  async result(
    key: string,
    name: string,
    work: () => unknown,
    hold: <T>(work: Promise<T>) => Promise<T>,
  ): Promise<unknown> {
    const recorded = this.log.step(key);
    if (recorded?.failed !== undefined) {
      const message = `The step "${name}" failed in an earlier round; only the name of its error is kept`;
      throw Object.assign(new Error(message), { name: recorded.failed });
    }
    const { value } = recorded ?? (await hold(this.begun.get(key) ?? this.begin(key, name, work)));
    return copyOf(value);
  }

  /** @returns a function after which failures of running steps are not recorded */
  mark(): () => void {
    return () => void this.runs++;
  }

  private begin(key: string, name: string, work: () => unknown): Promise<Kept> {
    const { runs } = this;
    const done = (async () => {
      try {
        const kept = this.asJson(key, await running.run({ steps: this, name }, async () => work()));
        await this.log.addStep(key, kept);
        return kept;
      } catch (error) {
        // Asking is not a failure, and failures of an earlier run do not count in the next run.
        if (!isRoundEnd(error) && runs === this.runs) await this.log.addStep(key, { failed: nameOf(error) });
        throw error;
      } finally {
        this.begun.delete(key);
      }
    })();
    this.begun.set(key, done);
    return done;
  }

  /** The value as the next round will read it. */
  private asJson(key: string, value: unknown): Kept {
    try {
      return JSON.parse(JSON.stringify({ value })) as Kept;
    } catch (error) {
      throw this.wrong(
        'MRTR_STEP_RESULT',
        `the step "${key}" of ${this.where} returned a value that JSON cannot hold: ${(error as Error).message}`,
      );
    }
  }
}

const nameOf = (error: unknown): string =>
  error instanceof Error && typeof error.name === 'string' ? error.name : 'Error';
