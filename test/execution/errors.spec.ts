import { BadRequestException, Injectable } from '@nestjs/common';
import { Completion, McpException, Prompt, Resource, ResourceTemplate, Tool } from 'nestjs-mcp';
import { throwError } from 'rxjs';
import { LogSpy } from '../fixtures/log-spy.js';
import { anyCell, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const SAFE = expect.stringMatching(/^Internal error \(reference [\da-f-]{36}\)$/);
const secret = 'postgres://admin:hunter2@db.internal/shop';

interface Outcome {
  error: unknown;
  /** What the JSON-RPC error is; of a tool, the message is the text of a result, unless `protocol` is set. */
  code: number;
  message: unknown;
  data?: unknown;
  /** Whether a tool answers with a JSON-RPC error as well. */
  protocol?: boolean;
  logged?: boolean;
}

/** One for each way in which a client is told; which error is told in which way, the tests of `toFailure` say. */
const OUTCOMES: Record<string, Outcome> = {
  BadRequestException: {
    error: new BadRequestException('Not like that'),
    code: -32602,
    message: 'Not like that',
    data: { statusCode: 400 },
  },
  McpException: {
    error: new McpException(-31999, 'Buy more credits', { credits: 0 }),
    code: -31999,
    message: 'Buy more credits',
    data: { credits: 0 },
    protocol: true,
  },
  'an Error': { error: new Error(secret), code: -32603, message: SAFE, logged: true },
  'a string': { error: secret, code: -32603, message: SAFE, logged: true },
};

/** The ways in which a handler can fail. */
const WAYS: Record<string, (error: unknown) => unknown> = {
  throws: error => {
    throw error;
  },
  'rejects with': async error => {
    throw error;
  },
  'emits the error': error => throwError(() => error),
};

let fail: () => unknown;

@Injectable()
class Handlers {
  @Tool()
  tool() {
    return fail();
  }

  @Prompt({ argsSchema: { type: 'object', properties: { a: { type: 'string' } } } })
  prompt() {
    return fail();
  }

  @Resource({ uri: 'config://app' })
  resource() {
    return fail();
  }

  @ResourceTemplate({ uriTemplate: 'users://{id}' })
  template() {
    return fail();
  }

  @Completion({ prompt: 'prompt', argument: 'a' })
  completion() {
    return fail();
  }
}

const CASES = Object.keys(WAYS).flatMap(way => Object.keys(OUTCOMES).map(what => [way, what] as const));

describe.each(anyCell())('over $name, a handler that', ({ platform, era, legacy }) => {
  const log = new LogSpy();
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;

  beforeAll(async () => {
    test = await startApp([Handlers], { platform, mcp: { legacy }, configure: app => app.useLogger(log) });
    client = await test.client({ era });
  });
  afterAll(() => test.close());
  beforeEach(() => log.errors.splice(0));

  it.each(CASES)('%s %s', async (way, what) => {
    const { error, code, message, data, protocol = false, logged = false } = OUTCOMES[what];
    fail = () => WAYS[way](error);
    const failures: Record<string, () => Promise<unknown>> = {
      prompt: () => client.getPrompt({ name: 'prompt' }),
      resource: () => client.readResource({ uri: 'config://app' }),
      template: () => client.readResource({ uri: 'users://ada' }),
      completion: () =>
        client.complete({ ref: { type: 'ref/prompt', name: 'prompt' }, argument: { name: 'a', value: '' } }),
    };
    for (const failure of Object.values(failures)) {
      await expect(failure()).rejects.toMatchObject({ code, message, data });
    }
    if (protocol) {
      await expect(client.callTool({ name: 'tool' })).rejects.toMatchObject({ code, message, data });
    } else {
      const result = await client.callTool({ name: 'tool' });
      expect(result).toMatchObject({ content: [{ type: 'text', text: message }], isError: true });
      expect(result.structuredContent).toBeUndefined();
      if (logged) expect(log.errors[4]).toContain(/reference ([\da-f-]{36})/.exec(textOf(result))?.[1]);
    }
    expect(log.errors).toHaveLength(logged ? 5 : 0);
    expect(log.errors.every(entry => entry.includes(secret))).toBe(true);
  });
});
