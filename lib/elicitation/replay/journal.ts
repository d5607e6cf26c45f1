import { randomUUID } from 'node:crypto';
import { readKind } from '../requests/input-request.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import type { InputMethod } from '../../protocol/methods.js';

export interface RecordedAnswer {
  readonly method: InputMethod;
  readonly fingerprint: string;
  readonly answer: unknown;
}

/** The outcome of a step, and the number of answers before it. */
export interface RecordedStep {
  /** Absent if the value is `undefined`, which JSON cannot hold. */
  readonly value?: unknown;
  /** The name of the error. The rest is not kept, because the client may read it. */
  readonly failed?: string;
  readonly after: number;
  /** Whether the handler had already seen answers to an exception, or its state. */
  readonly isTold?: boolean;
}

export type OpenRequest = Omit<RecordedAnswer, 'answer'>;

/** A call's memory between two rounds. It is JSON, because it travels with the client. */
export interface Journal {
  /** The same in all rounds. */
  readonly id: string;
  readonly version: string;
  readonly rounds: number;
  /** In the order of arrival. */
  readonly answers: Readonly<Record<string, RecordedAnswer>>;
  readonly open: Readonly<Record<string, OpenRequest>>;
  /** The methods of an exception's input requests, by key. */
  readonly asked?: Readonly<Record<string, InputMethod>>;
  /** The answers to `asked`, kept until the next exception. */
  readonly given?: Readonly<Record<string, unknown>>;
  readonly steps: Readonly<Record<string, RecordedStep>>;
  /** The results of `ctx.now()`. */
  readonly times: readonly number[];
  /** Whether the handler has used a value derived from `id`. */
  readonly isIdUsed?: boolean;
  /** The handler's own `requestState`. */
  readonly state?: unknown;
  /** The trace position of the earlier round, as the observer wrote it. */
  readonly mark?: string;
}

export const newJournal = (version: string): Journal => ({
  id: randomUUID(),
  version,
  rounds: 0,
  answers: {},
  open: {},
  steps: {},
  times: [],
});

/** Moves the client's answers into the journal, and drops answers to other input requests. */
export function withAnswers(
  { asked = {}, ...journal }: Journal,
  responses: Readonly<Record<string, unknown>>,
): Journal {
  const answers: Record<string, RecordedAnswer> = { ...journal.answers };
  const open: Record<string, OpenRequest> = {};
  for (const [key, request] of Object.entries(journal.open)) {
    const { method, fingerprint } = request;
    if (Object.hasOwn(responses, key)) answers[key] = { method, fingerprint, answer: responses[key] };
    else open[key] = request;
  }
  const given = { ...journal.given };
  for (const key of Object.keys(asked)) if (Object.hasOwn(responses, key)) given[key] = responses[key];
  return { ...journal, answers, open, ...(Object.keys(given).length > 0 && { given }) };
}

/** Copies a JSON value, many times faster than `structuredClone`. */
export const copyOf = <T>(json: T): T =>
  typeof json === 'object' && json !== null ? (JSON.parse(JSON.stringify(json)) as T) : json;

/** Passes the client's answers through the interceptors. */
export async function withAnswersReceived(call: McpCall): Promise<McpCall> {
  const { receive, inputResponses } = call;
  if (!receive || !inputResponses) return call;
  return { ...call, receive: undefined, inputResponses: await receive(inputResponses) };
}

/**
 * Drops answers to input requests that were not asked, before interceptors see them. @throws McpException (-32602) for an
 * answer of another kind
 */
export async function answersAsked(
  { inputResponses = {}, malformedResponses = [], receive }: McpCall,
  { open = {}, asked = {} }: Partial<Journal> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = {};
  const take = (key: string, method: InputMethod) => {
    if (malformedResponses.includes(key)) readKind(method, undefined);
    if (!Object.hasOwn(inputResponses, key)) return;
    readKind(method, inputResponses[key]);
    answers[key] = inputResponses[key];
  };
  for (const key of Object.keys(open)) take(key, open[key].method);
  for (const key of Object.keys(asked)) take(key, asked[key]);
  return receive ? receive(answers) : answers;
}
