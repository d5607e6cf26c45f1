import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, MemoryMrtrStore, Tool, type MrtrStore } from 'nestjs-mcp';
import { RateLimit } from 'nestjs-mcp/interceptors';
import { messageOf } from '../fixtures/raw-client.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const FORM = { message: 'Which?', schema: { type: 'object', properties: {} } } as const;
const UNAVAILABLE = {
  code: -32000,
  message: 'The server cannot reach a store that this call needs. Try again later.',
  data: { statusCode: 503 },
};

@Injectable()
class Tools {
  @Tool()
  async ask(@Ctx() ctx: McpContext) {
    return (await ctx.elicit('one', FORM)).action;
  }

  @Tool()
  hello() {
    return 'hello';
  }
}

/** A store that fails while it is down. */
class FailingStore implements MrtrStore {
  isDown = true;
  private readonly store = new MemoryMrtrStore();

  readonly set: MrtrStore['set'] = (...args) => this.orFail(() => this.store.set(...args));
  readonly get: MrtrStore['get'] = key => this.orFail(() => this.store.get(key));
  readonly claim: MrtrStore['claim'] = (...args) => this.orFail(() => this.store.claim(...args));

  private orFail<T>(work: () => Promise<T>): Promise<T> {
    return this.isDown ? Promise.reject(new Error('no connection')) : work();
  }
}

describe('while a store fails', () => {
  const store = new FailingStore();
  const log = new LogSpy();
  let test: TestApp;
  beforeAll(async () => {
    const limiter = { consume: () => Promise.reject(new Error('no connection')) };
    test = await startApp([Tools, RateLimit({ limiter, when: { name: 'hello' } })], {
      mcp: { mrtr: { secret: 'a secret of more than thirty-two bytes', store, maxStateBytes: 1 } },
      configure: app => app.useLogger(log),
    });
  });
  beforeEach(() => (store.isDown = true));
  afterAll(() => test.close());

  const post = async (name: string, round: object = {}) => {
    const response = await fetch(await test.url(), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify(messageOf({ name, ...round })),
    });
    const { result, error } = (await response.json()) as {
      result?: { requestState?: string; content?: unknown };
      error?: object;
    };
    return { status: response.status, result, error };
  };

  it('a call that needs it is refused with HTTP 503', async () => {
    expect(await post('hello')).toEqual({ status: 503, error: UNAVAILABLE });
  });

  it('a call whose handler has run is not refused with HTTP 503, so that no proxy repeats it', async () => {
    expect(await post('ask')).toEqual({ status: 200, error: UNAVAILABLE });
  });

  it('a 2025 client gets the JSON-RPC error', async () => {
    const client = await test.client({ era: 'legacy' });
    await expect(client.callTool({ name: 'hello' })).rejects.toMatchObject(UNAVAILABLE);
  });

  it('a state waits for the store to come back', async () => {
    store.isDown = false;
    const { result } = await post('ask');
    const answer = { requestState: result!.requestState, inputResponses: { one: { action: 'decline' } } };
    store.isDown = true;
    expect(await post('ask', answer)).toMatchObject({ status: 503 });
    store.isDown = false;
    expect(textOf((await post('ask', answer)).result!)).toBe('decline');
  });

  it('the log says it once', async () => {
    log.warnings.length = 0;
    for (let call = 0; call < 3; call++) await post('ask');
    expect(log.warnings).toEqual([
      expect.stringContaining('The store of "mrtr" failed; calls that need it are refused: no connection'),
    ]);
    const crashes = log.errors.filter(line => line.includes('rate-limit'));
    expect(crashes).toEqual([expect.stringContaining('crash: no connection')]);
  });
});
