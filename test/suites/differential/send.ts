import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** A request as it goes over the wire. */
export interface Sent {
  readonly method: string;
  /** Several values are several headers. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

/** What the protocol fixes of an answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | boolean | undefined>>;
  /** The JSON, or the text that is not JSON. */
  readonly body?: unknown;
  /** The messages of an event stream. */
  readonly messages?: readonly unknown[];
}

/** An answer whose head has come. */
export interface Opened {
  readonly status: number;
  /** Under which the client goes on, if the answer opened a session. */
  readonly sessionId?: string;
  /** The rest of it, once it has ended. */
  readonly answer: Promise<Answer>;
  /** Hangs up. */
  destroy(): void;
}

const EVENT_STREAM = 'text/event-stream';

/** Sends requests over connections that are kept, to one server. */
export class Sender {
  private readonly agent = new Agent({ keepAlive: true });

  constructor(readonly url: string) {}

  /** The whole answer; of an answer to `subscriptions/listen`, which has no end, the part that says it is served. */
  async send(sent: Sent): Promise<Answer> {
    const opened = await this.open(sent, message => {
      if (methodOf(message) === 'notifications/subscriptions/acknowledged') opened.destroy();
    });
    return opened.answer;
  }

  /** @param onMessage called with each message of an event stream */
  async open(sent: Sent, onMessage: (message: unknown) => void = () => {}): Promise<Opened> {
    const { method, body } = sent;
    const headers = Object.entries(sent.headers).flatMap(([name, values]) =>
      [values].flat().map(value => [name, value] as [string, string]),
    );
    const sending = request(this.url, { method, agent: this.agent, timeout: 30_000 });
    for (const [name] of headers) sending.removeHeader(name);
    for (const [name, value] of headers) sending.appendHeader(name, value);
    let late: Error | undefined;
    sending.once('timeout', () => {
      late = new Error(`There is no end of an answer to ${JSON.stringify(sent)}`);
      sending.destroy(late);
    });
    // Before the answer, the error is thrown below; after it, the answer ends.
    sending.on('error', () => {});
    sending.end(body);
    const [incoming] = (await once(sending, 'response')) as [IncomingMessage];
    const sessionId = incoming.headers['mcp-session-id'] as string | undefined;
    const answer = read(incoming, onMessage).then(whole => {
      if (late) throw late;
      return whole;
    });
    answer.catch(() => undefined);
    return { status: incoming.statusCode ?? 0, sessionId, answer, destroy: () => incoming.destroy() };
  }

  close(): void {
    this.agent.destroy();
  }
}

const methodOf = (message: unknown): unknown => (message as { method?: unknown } | null)?.method;

async function read(incoming: IncomingMessage, onMessage: (message: unknown) => void): Promise<Answer> {
  const { headers, statusCode: status = 0 } = incoming;
  const isStream = headers['content-type']?.startsWith(EVENT_STREAM) ?? false;
  const fixed = {
    'content-type': headers['content-type']?.toLowerCase(),
    allow: headers.allow?.split(/, */).sort().join(),
    'mcp-session-id': headers['mcp-session-id'] !== undefined,
    'www-authenticate': headers['www-authenticate'],
    ...(isStream && { 'cache-control': headers['cache-control'] }),
  };
  if (isStream) {
    return { status, headers: fixed, messages: await readEvents(incoming, onMessage) };
  }
  const body = await text(incoming);
  return { status, headers: fixed, ...(body !== '' && { body: parsed(body) }) };
}

async function readEvents(
  incoming: IncomingMessage,
  onMessage: (message: unknown) => void,
): Promise<unknown[]> {
  const messages: unknown[] = [];
  let rest = '';
  incoming.setEncoding('utf8');
  incoming.on('data', (chunk: string) => {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      // An event without data only has an id.
      if (!data) continue;
      messages.push(JSON.parse(data));
      onMessage(messages.at(-1));
    }
  });
  // Its end, or that it was hung up on.
  await once(incoming, 'close').catch(() => undefined);
  return messages;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body;
  }
}
