import { AsyncLocalStorage } from 'node:async_hooks';
import { copyOf, type RecordedStep } from './journal.js';
import { isRoundEnd } from '../../input/input-required.exception.js';
import type { ReportMistake } from '../mrtr.error.js';
import type { ReplayLog } from './replay-log.js';

type Kept = Pick<RecordedStep, 'value'>;

/** Which step the code that runs belongs to. */
const running = new AsyncLocalStorage<{ readonly steps: Steps; readonly name: string }>();

/** What a handler does once in all rounds of a call. */
export class Steps {
  /** Those that run, by key. A handler that is run again meanwhile waits for what it has begun. */
  private readonly begun = new Map<string, Promise<Kept>>();
  /** How often what fails has begun to be done anew. */
  private runs = 0;

  /** @param where `Class.method`, for messages */
  constructor(
    private readonly log: ReplayLog,
    private readonly where: string,
    private readonly wrong: ReportMistake,
  ) {}

  /** The name of the step that the code which runs belongs to; undefined outside of these. */
  get current(): string | undefined {
    const current = running.getStore();
    return current?.steps === this ? current.name : undefined;
  }

  /**
   * What came out of a step, or comes out of it now: a copy, for whoever may change it.
   * @param hold keeps the round from ending until it has
   * @throws Error where it failed in an earlier round; whatever `work` throws
   */
  async result(
    key: string,
    name: string,
    work: () => unknown,
    hold: <T>(work: Promise<T>) => Promise<T>,
  ): Promise<unknown> {
    const recorded = this.log.step(key);
    if (recorded?.failed !== undefined) throw hasFailed(name, recorded.failed);
    const { value } = recorded ?? (await hold(this.begun.get(key) ?? this.begin(key, name, work)));
    return copyOf(value);
  }

  /** @returns a function after which the failures of steps that run now are not recorded */
  mark(): () => void {
    return () => void this.runs++;
  }

  /** Runs a step, and remembers what came out. Where it fails, and the handler goes on, that is what came out. */
  private begin(key: string, name: string, work: () => unknown): Promise<Kept> {
    const { runs } = this;
    const done = (async () => {
      try {
        const kept = this.asJson(key, await running.run({ steps: this, name }, async () => work()));
        this.log.addStep(key, kept);
        return kept;
      } catch (error) {
        // What asks the client is no failure; and one of a run that has itself failed is none of the next.
        if (!isRoundEnd(error) && runs === this.runs) this.log.addStep(key, { failed: nameOf(error) });
        throw error;
      } finally {
        this.begun.delete(key);
      }
    })();
    this.begun.set(key, done);
    return done;
  }

  /** A value as it will be in the next round, so that this one sees no other. */
  private asJson(key: string, value: unknown): Kept {
    try {
      return JSON.parse(JSON.stringify({ value })) as Kept;
    } catch (error) {
      throw this.wrong(
        'MRTR_STEP_RESULT',
        `the step "${key}" of ${this.where} returned what JSON cannot hold: ${(error as Error).message}`,
      );
    }
  }
}

/** What a step is rejected with that failed in an earlier round. */
const hasFailed = (name: string, failed: string): Error =>
  Object.assign(
    new Error(`The step "${name}" failed in an earlier round, of which only the name is remembered`),
    { name: failed },
  );

const nameOf = (error: unknown): string =>
  error instanceof Error && typeof error.name === 'string' ? error.name : 'Error';
