import { randomUUID } from 'node:crypto';
import type { InputMethod } from '../../input/input-request.js';

/** What was asked, and what it was answered. */
export interface RecordedAnswer {
  readonly method: InputMethod;
  readonly fingerprint: string;
  readonly answer: unknown;
}

/** What became of a step, and how many answers there were by then. */
export interface RecordedStep {
  /** Absent where nothing came out: JSON has no `undefined`. */
  readonly value?: unknown;
  /** The name of the error that it failed with. No more of it: what is remembered may be read by the client. */
  readonly failed?: string;
  readonly after: number;
  /** Whether the handler knew answers to an exception by then, or its state. */
  readonly isTold?: boolean;
}

/** What a question in the client's hands was. */
export type OpenQuestion = Omit<RecordedAnswer, 'answer'>;

/** What a call remembers from one round to the next, as JSON: it travels with the client. */
export interface Journal {
  /** Identifies the call over all its rounds. */
  readonly id: string;
  /** Which version of the handler asked. */
  readonly version: string;
  /** How many rounds have ended. */
  readonly rounds: number;
  /** In the order in which they came. */
  readonly answers: Readonly<Record<string, RecordedAnswer>>;
  readonly open: Readonly<Record<string, OpenQuestion>>;
  /** What an exception or a returned result asked: its method, by key. */
  readonly asked?: Readonly<Record<string, InputMethod>>;
  /** The answers to those, which the handler starts from until the next exception. */
  readonly given?: Readonly<Record<string, unknown>>;
  readonly steps: Readonly<Record<string, RecordedStep>>;
  /** What `ctx.now()` said, in order. */
  readonly times: readonly number[];
  /** Whether the handler has used what follows from the `id`. */
  readonly isIdUsed?: boolean;
  /** The handler's own `requestState`. */
  readonly state?: unknown;
}

/** The journal of a call that begins. */
export const newJournal = (version: string): Journal => ({
  id: randomUUID(),
  version,
  rounds: 0,
  answers: {},
  open: {},
  steps: {},
  times: [],
});

/** Moves the client's answers to what was asked into the journal. Others are nobody's. */
export function withAnswers(
  { asked = {}, ...journal }: Journal,
  responses: Readonly<Record<string, unknown>>,
): Journal {
  const answers: Record<string, RecordedAnswer> = { ...journal.answers };
  const open: Record<string, OpenQuestion> = {};
  for (const [key, question] of Object.entries(journal.open)) {
    if (Object.hasOwn(responses, key)) answers[key] = { ...question, answer: responses[key] };
    else open[key] = question;
  }
  const given = { ...journal.given };
  for (const key of Object.keys(asked)) if (Object.hasOwn(responses, key)) given[key] = responses[key];
  return { ...journal, answers, open, ...(Object.keys(given).length > 0 && { given }) };
}

/** A copy of JSON, for whoever may change it. */
export const copyOf = <T>(json: T): T =>
  typeof json === 'object' && json !== null ? structuredClone(json) : json;
