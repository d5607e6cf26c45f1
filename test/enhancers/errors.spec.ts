import { ConflictException, HttpException, Injectable, UnprocessableEntityException } from '@nestjs/common';
import { InternalServerErrorException, BadRequestException, ForbiddenException } from '@nestjs/common';
import { RpcException } from '@nestjs/microservices';
import { ProtocolError } from '@modelcontextprotocol/server';
import {
  Completion,
  InvalidArgumentsException,
  McpException,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
} from 'nestjs-mcp';
import { throwError } from 'rxjs';
import { LogSpy } from '../fixtures/log-spy.js';
import { CELLS, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

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

const OUTCOMES: Record<string, Outcome> = {
  BadRequestException: {
    error: new BadRequestException('Not like that'),
    code: -32602,
    message: 'Not like that',
    data: { statusCode: 400 },
  },
  'BadRequestException with several messages': {
    error: new BadRequestException(['a must be a string', 'b must be a number']),
    code: -32602,
    message: 'a must be a string; b must be a number',
    data: { statusCode: 400 },
  },
  'BadRequestException with objects': {
    error: new BadRequestException([{ property: 'a', value: secret }]),
    code: -32602,
    message: 'Bad Request Exception',
    data: { statusCode: 400 },
  },
  UnprocessableEntityException: {
    error: new UnprocessableEntityException('Too many'),
    code: -32602,
    message: 'Too many',
    data: { statusCode: 422 },
  },
  ForbiddenException: {
    error: new ForbiddenException(),
    code: -32000,
    message: 'Forbidden',
    data: { statusCode: 403 },
  },
  'ConflictException with a description and a cause': {
    error: new ConflictException('No such order', { cause: new Error(secret), description: secret }),
    code: -32000,
    message: 'No such order',
    data: { statusCode: 409 },
  },
  'HttpException with an object': {
    error: new HttpException({ message: 'Gone', secret }, 410),
    code: -32000,
    message: 'Gone',
    data: { statusCode: 410 },
  },
  'HttpException with an object without a message': {
    error: new HttpException({ secret }, 409),
    code: -32000,
    message: 'Http Exception',
    data: { statusCode: 409 },
  },
  InternalServerErrorException: {
    error: new InternalServerErrorException('The bank does not answer'),
    code: -32603,
    message: 'The bank does not answer',
    data: { statusCode: 500 },
  },
  'an HttpException of another copy of Nest': {
    error: Object.assign(new Error('I am a teapot'), {
      getStatus: () => 418,
      getResponse: () => 'I am a teapot',
    }),
    code: -32000,
    message: 'I am a teapot',
    data: { statusCode: 418 },
  },
  'RpcException with a string': { error: new RpcException('No stock'), code: -32000, message: 'No stock' },
  'RpcException with an object': {
    error: new RpcException({ message: 'No stock', left: 0 }),
    code: -32000,
    message: 'No stock',
  },
  'RpcException with a code': {
    error: new RpcException({ code: -31000, message: 'No stock', data: { left: 0 } }),
    code: -31000,
    message: 'No stock',
    data: { left: 0 },
    protocol: true,
  },
  McpException: {
    error: new McpException(-31999, 'Buy more credits', { credits: 0 }),
    code: -31999,
    message: 'Buy more credits',
    data: { credits: 0 },
    protocol: true,
  },
  InvalidArgumentsException: {
    error: new InvalidArgumentsException('order', [{ path: 'a.b', message: 'is odd' }]),
    code: -32602,
    message: 'Invalid arguments for order: a.b: is odd',
  },
  'the SDK’s ProtocolError': {
    error: new ProtocolError(-31998, 'Not supported', { feature: 'x' }),
    code: -31998,
    message: 'Not supported',
    data: { feature: 'x' },
    protocol: true,
  },
  'an Error': { error: new Error(secret), code: -32603, message: SAFE, logged: true },
  'a TypeError': { error: new TypeError(secret), code: -32603, message: SAFE, logged: true },
  'an Error with a code': {
    error: Object.assign(new Error(secret), { code: -32602, data: { secret } }),
    code: -32603,
    message: SAFE,
    logged: true,
  },
  'a string': { error: secret, code: -32603, message: SAFE, logged: true },
  'an object': { error: { message: secret, code: -32602 }, code: -32603, message: SAFE, logged: true },
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

describe.each(CELLS)('over $name, a handler that', ({ platform, era, legacy }) => {
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
