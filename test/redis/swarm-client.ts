import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { textOf } from '../fixtures/matrix.js';
import type { Era } from '../gateway/support.js';

/** A call has to end within this time, in milliseconds. */
const DEADLINE_MS = 15_000;

/** How often a client tries again, and how long it waits before, in milliseconds. */
const TRIES = 10;
const RETRY_MS = 500;

/** How many resources a client subscribes to. */
const RESOURCES = 5;

const TOOLS = ['echo', 'ask', 'report', 'change'] as const;

/** Times in milliseconds of `performance.now()`. */
export type Span = readonly [from: number, to: number];

/** The updates of a resource of a client. */
interface Updates {
  /** The calls that have sent one. */
  readonly sent: Span[];
  /** How many calls failed, or run, so that nobody knows whether they have sent one. */
  unsure: number;
  /** When they came. */
  readonly got: number[];
}

/** A client that calls, answers questions and hears of changes, and counts what goes wrong. */
export class SwarmClient {
  readonly counts = { calls: 0, errors: 0, late: 0, stuck: 0, foreign: 0, undelivered: 0 };
  longestMs = 0;
  /** The calls that took too long: tool, and seconds of `performance.now()` at which they began. */
  readonly lateCalls: string[] = [];
  private readonly client: Client;
  private readonly updates = new Map<string, Updates>();
  private changes = 0;

  constructor(
    private readonly tag: string,
    readonly era: Era,
    /** When what a node has been asked to tell the others may not have left it. */
    private readonly unsure: readonly Span[],
  ) {
    this.client = new Client(
      { name: tag, version: '1' },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
      },
    );
    this.client.setRequestHandler('elicitation/create', ({ params }) => {
      if (params.message !== tag) this.counts.foreign += 1;
      return { action: 'accept', content: { tag } };
    });
    this.client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      const own = this.updates.get(params.uri);
      if (own) own.got.push(performance.now());
      else this.counts.foreign += 1;
    });
  }

  async connect(url: string): Promise<void> {
    let onStream = () => {};
    const streaming = new Promise<void>(resolve => (onStream = resolve));
    await this.client.connect(
      new StreamableHTTPClientTransport(new URL(url), {
        reconnectionOptions: {
          initialReconnectionDelay: 200,
          maxReconnectionDelay: 1000,
          reconnectionDelayGrowFactor: 1.5,
          maxRetries: 100,
        },
        fetch: async (input, init) => {
          const response = await fetch(input, init).catch((error: unknown) => {
            if (isAnswer(init)) this.counts.undelivered += 1;
            throw error;
          });
          if (init?.method === 'GET') onStream();
          if (isAnswer(init) && !response.ok) this.counts.undelivered += 1;
          return response;
        },
      }),
    );
    const uris = Array.from({ length: RESOURCES }, (_, index) => `count://${this.tag}/${index}`);
    for (const uri of uris) this.updates.set(uri, { sent: [], unsure: 0, got: [] });
    if (this.era === 'modern') {
      await this.client.listen({ resourceSubscriptions: uris });
      return;
    }
    await streaming;
    for (const uri of uris) await this.client.subscribeResource({ uri });
  }

  /** Calls until it is told to stop, at a human's pace. */
  async work(signal: AbortSignal, paceMs: number): Promise<void> {
    const rest = (part: number) => pause(paceMs * part, undefined, { signal }).catch(() => undefined);
    await rest(Math.random());
    while (!signal.aborted) {
      const name = TOOLS[Math.floor(Math.random() * TOOLS.length)];
      await this.call(name);
      await rest(0.5 + Math.random());
    }
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Updates that were sent, and did not come, or came once too often. */
  get missed(): { lost: number; doubled: number; sent: number } {
    const all = [...this.updates.values()];
    const sum = (of: (updates: Updates) => number) => all.reduce((total, one) => total + of(one), 0);
    return {
      sent: sum(({ sent }) => sent.length),
      lost: sum(updates => this.lostOf(updates)),
      doubled: sum(({ sent, unsure, got }) => Math.max(0, got.length - sent.length - unsure)),
    };
  }

  /** The times of the updates of each resource of which some are lost, in seconds. */
  get lostUpdates(): string[] {
    const seconds = (times: readonly number[]) => times.map(ms => (ms / 1000).toFixed(1)).join(', ');
    return [...this.updates]
      .filter(([, updates]) => this.lostOf(updates) > 0)
      .map(
        ([uri, { sent, got }]) => `${uri}: sent ${seconds(sent.map(([, to]) => to))}; got ${seconds(got)}`,
      );
  }

  private lostOf({ sent, got }: Updates): number {
    const isSure = ([begun, ended]: Span) => !this.unsure.some(([from, to]) => ended > from && begun < to);
    return Math.max(0, sent.filter(isSure).length - got.length);
  }

  /** The same client object succeeds in the end. */
  private async call(name: (typeof TOOLS)[number]): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      if (tries > 0) await pause(RETRY_MS);
      if (await this.tried(name)) return;
    }
    this.counts.stuck += 1;
  }

  private async tried(name: (typeof TOOLS)[number]): Promise<boolean> {
    const { counts } = this;
    const uri = `count://${this.tag}/${(this.changes += 1) % RESOURCES}`;
    const tag = name === 'change' ? uri : this.tag;
    const updates = name === 'change' ? this.updates.get(uri) : undefined;
    // Until it has ended, nobody knows.
    if (updates) updates.unsure += 1;
    const begun = performance.now();
    const { undelivered } = counts;
    counts.calls += 1;
    try {
      const result = await this.client.callTool(
        { name, arguments: { tag } },
        { timeout: 2 * DEADLINE_MS, onprogress: () => undefined },
      );
      if (textOf(result) !== tag) counts.foreign += 1;
      if (updates) {
        updates.unsure -= 1;
        updates.sent.push([begun, performance.now()]);
      }
      return true;
    } catch {
      counts.errors += 1;
      return false;
    } finally {
      const tookMs = performance.now() - begun;
      this.longestMs = Math.max(this.longestMs, tookMs);
      // The SDK's client does not send an answer again, so the call waits for it in vain.
      if (tookMs > DEADLINE_MS && counts.undelivered === undelivered) {
        counts.late += 1;
        this.lateCalls.push(`${name} at ${Math.round(begun / 1000)}`);
      }
    }
  }
}

/** Whether a POST answers a question of the server. */
function isAnswer({ body }: RequestInit = {}): boolean {
  return typeof body === 'string' && !('method' in (JSON.parse(body) as object));
}
