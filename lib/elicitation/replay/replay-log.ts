import type { PreparedRequest } from '../requests/input-request.js';
import type { Journal, RecordedAnswer, RecordedStep } from './journal.js';
import type { ReportMistake } from '../mrtr.error.js';
import type { OnMismatch } from '../mrtr-options.js';

/** The answers and steps of a call, from earlier rounds and from this round. */
export class ReplayLog {
  readonly answers: Record<string, RecordedAnswer>;
  readonly steps: Record<string, RecordedStep>;
  private left: number;
  private readonly isTold: boolean;

  constructor(
    { answers, steps, given, state }: Journal,
    private readonly options: {
      readonly where: string;
      readonly onMismatch: OnMismatch;
      readonly onAdded?: () => Promise<void>;
    },
    private readonly wrong: ReportMistake,
  ) {
    this.answers = { ...answers };
    this.steps = { ...steps };
    this.left = this.size;
    this.isTold = given !== undefined || state !== undefined;
  }

  get isReplaying(): boolean {
    return this.left > 0;
  }

  /** Returns undefined if the input request must be asked. @throws MrtrError if another input request had this key */
  answerTo(key: string, prepared: PreparedRequest): RecordedAnswer | undefined {
    const recorded = Object.hasOwn(this.answers, key) ? this.answers[key] : undefined;
    if (recorded && this.isStillAsked(key, recorded, prepared)) {
      this.left--;
      return recorded;
    }
    this.left = 0;
    return undefined;
  }

  async addAnswer(key: string, { request, fingerprint }: PreparedRequest, answer: unknown): Promise<void> {
    this.answers[key] = { method: request.method, fingerprint, answer };
    await this.options.onAdded?.();
  }

  step(key: string): RecordedStep | undefined {
    if (Object.hasOwn(this.steps, key)) {
      this.left--;
      return this.steps[key];
    }
    this.left = 0;
    return undefined;
  }

  async addStep(key: string, kept: Omit<RecordedStep, 'after'>): Promise<void> {
    const after = Object.keys(this.answers).length;
    this.steps[key] = { ...kept, after, ...(this.isTold && { isTold: true }) };
    await this.options.onAdded?.();
  }

  /** @returns a function that replays all entries since this call, except steps that failed after it */
  mark(): () => void {
    const used = this.size - this.left;
    const known = Object.keys(this.steps);
    return () => {
      // A failure that precedes an answer belongs to an earlier round.
      const answers = Object.keys(this.answers).length;
      for (const [key, { failed, after }] of Object.entries(this.steps)) {
        if (failed !== undefined && after === answers && !known.includes(key)) delete this.steps[key];
      }
      this.left = this.size - used;
    };
  }

  private get size(): number {
    return Object.keys(this.answers).length + Object.keys(this.steps).length;
  }

  /** Consent to one input request does not count as consent to another. */
  private isStillAsked(
    key: string,
    recorded: RecordedAnswer,
    { request, fingerprint }: PreparedRequest,
  ): boolean {
    const { where, onMismatch } = this.options;
    if (recorded.method !== request.method) {
      throw this.wrong(
        'MRTR_KIND_CHANGED',
        `${where} asked ${recorded.method} as "${key}" in an earlier round, and now ${request.method}; give each input request its own key`,
      );
    }
    if (recorded.fingerprint === fingerprint) return true;
    if (onMismatch === 'error') {
      throw this.wrong(
        'MRTR_INPUT_REQUEST_CHANGED',
        `${where} asked something else as "${key}" in an earlier round (expected ${recorded.fingerprint}, found ${fingerprint}). An input request may only depend on the arguments, on answers, on steps and on ctx.now(), uuid() and random(). To ask again instead, set "mrtr.onMismatch" to "reask"`,
      );
    }
    this.forget(key);
    return false;
  }

  /** Later answers may depend on the answer, so they are dropped too. Steps cannot be undone. */
  private forget(key: string): void {
    const keys = Object.keys(this.answers);
    const index = keys.indexOf(key);
    const done = Object.keys(this.steps).find(step => this.steps[step].after > index);
    if (done !== undefined) {
      throw this.wrong(
        'MRTR_INPUT_REQUEST_CHANGED',
        `${this.options.where} asks something else as "${key}" than in an earlier round, and the step "${done}" has been done since; the client has to repeat the call from the start`,
      );
    }
    for (const later of keys.slice(index)) delete this.answers[later];
  }
}
