import { bodyOf, isRecord } from './reading.js';
import type { Answer, Opened, Sender, Sent } from './send.js';

/** One request of a session. */
export interface Step extends Sent {
  /** Whether it goes on while others are sent, from its first message on: its answer counts at the end. */
  readonly goesOn?: boolean;
  /** How many messages have come in all, over what goes on, before the next step. */
  readonly until?: number;
}

/** A session from its beginning to its end. */
export interface Sequence {
  readonly name: string;
  /** What opens it; false for no session at all. */
  readonly initialize: Sent | false;
  readonly steps: readonly Step[];
}

/** What the client answers to what it is asked. */
const RESULTS: Readonly<Record<string, object>> = {
  'elicitation/create': { action: 'accept', content: { name: 'eu', ok: true } },
  'sampling/createMessage': { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'none' },
  'roots/list': { roots: [{ uri: 'file:///root' }] },
};

/** Plays one session against one server. The answers: of `initialize`, of each step, and of the request that ends it. */
export class Player {
  private sessionId?: string;
  private readonly replies: Promise<Answer>[] = [];
  private readonly open: Opened[] = [];
  private received = 0;
  private onReceived = () => {};

  constructor(private readonly sender: Sender) {}

  async play({ initialize, steps }: Sequence): Promise<Answer[]> {
    const answers: Promise<Answer>[] = [];
    if (initialize) {
      const opened = await this.sender.open(initialize);
      this.sessionId = opened.sessionId;
      answers.push(opened.answer);
      await opened.answer;
    }
    for (const step of steps) answers.push((await this.step(step)).answer);
    const ended = this.sender.send(this.inSession({ method: 'DELETE', headers: {} }));
    await ended;
    // What does not end with its session, as nothing of it was in one.
    if (this.sessionId === undefined) for (const { destroy } of this.open) destroy();
    await Promise.all(this.replies);
    return (await Promise.all([...answers, ended])).map((answer, index) =>
      settled(answer, steps[initialize ? index - 1 : index]),
    );
  }

  private async step(step: Step): Promise<Opened> {
    const isStream = step.method === 'GET';
    const goesOn = isStream || step.goesOn === true;
    let onFirst = () => {};
    const first = new Promise<void>(resolve => (onFirst = resolve));
    const opened = await this.sender.open(this.inSession(step), message => {
      onFirst();
      this.receive(message, goesOn);
    });
    if (goesOn) this.open.push(opened);
    if (!isStream) await (goesOn ? Promise.race([first, opened.answer]) : opened.answer);
    while (step.until !== undefined && this.received < step.until) {
      await new Promise<void>(resolve => (this.onReceived = resolve));
    }
    return opened;
  }

  private receive(message: unknown, counts: boolean): void {
    if (counts) {
      this.received += 1;
      this.onReceived();
    }
    if (!isRecord(message) || message['id'] === undefined || typeof message['method'] !== 'string') return;
    const { id, method } = message;
    const body = JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} });
    this.replies.push(this.sender.send(this.inSession({ method: 'POST', headers: HEADERS, body })));
  }

  /** A step that has a header of its own, or none on purpose (''), keeps it. */
  private inSession(sent: Sent): Sent {
    const { 'mcp-session-id': own = this.sessionId ?? '', ...headers } = sent.headers;
    return { ...sent, headers: { ...headers, ...(own !== '' && { 'mcp-session-id': own }) } };
  }
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Takes out the ids that a server gives to its own requests, and the order in which a batch is answered. */
function settled(answer: Answer, step: Step | undefined): Answer {
  if (!answer.messages) return answer;
  const messages = answer.messages.map(message =>
    isRecord(message) && message['method'] !== undefined && message['id'] !== undefined
      ? { ...message, id: '<id>' }
      : message,
  );
  if (step && Array.isArray(bodyOf(step))) messages.sort((a, b) => order(a, b));
  return { ...answer, messages };
}

const order = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
