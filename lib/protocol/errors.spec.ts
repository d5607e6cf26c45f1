import {
  BadRequestException,
  Catch,
  ConflictException,
  ForbiddenException,
  HttpException,
  Injectable,
  InternalServerErrorException,
  Logger,
  NotFoundException,
  UnprocessableEntityException,
  UseFilters,
  type ExceptionFilter,
} from '@nestjs/common';
import { RpcException } from '@nestjs/microservices';
import { ProtocolError } from '@modelcontextprotocol/server';
import { Args, InvalidArgumentsException, McpException, Prompt, Tool } from 'nestjs-mcp';
import { toFailure } from './errors.js';
import { LogSpy } from '../../test/fixtures/log-spy.js';
import { startApp, textOf, type TestApp } from '../../test/fixtures/matrix.js';

const circular: { self?: unknown; secret: string } = { secret: 'hunter2' };
circular.self = circular;

const THROWN: Record<string, unknown> = {
  'a bigint': 10n,
  'a circular object': circular,
  'an object': { secret: 'hunter2' },
  'a string': 'hunter2',
  'a number': 7,
  'a symbol': Symbol('hunter2'),
  'a function': () => 'hunter2',
  undefined: undefined,
  null: null,
};

@Catch()
class BrokenFilter implements ExceptionFilter {
  catch(): never {
    throw new TypeError('broken filter');
  }
}

@Injectable()
class Tools {
  @Tool()
  fail(@Args('what') what: string) {
    throw THROWN[what];
  }

  @Prompt()
  failing(@Args('what') what: string) {
    throw THROWN[what];
  }

  @Tool()
  @UseFilters(new BrokenFilter())
  filtered() {
    throw new ConflictException('original');
  }

  @Tool()
  chain() {
    throw new Error('outer', { cause: new Error('inner') });
  }
}

describe('what is thrown', () => {
  const log = new LogSpy();
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;

  beforeAll(async () => {
    test = await startApp([Tools], { configure: app => app.useLogger(log) });
    client = await test.client();
  });
  afterAll(() => test.close());
  beforeEach(() => log.errors.splice(0));

  it.each(Object.keys(THROWN))('reaches the client as a safe sentence where it is %s', async what => {
    const result = await client.callTool({ name: 'fail', arguments: { what } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^Internal error \(reference [\da-f-]{36}\)$/);
    await expect(client.getPrompt({ name: 'failing', arguments: { what } })).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Internal error \(reference [\da-f-]{36}\)$/),
    });
    expect(log.errors).toHaveLength(2);
  });

  it('is logged in full, with the causes of an error', async () => {
    await client.callTool({ name: 'chain' });
    expect(log.errors).toEqual([expect.stringMatching(/Error: outer\n[^]*Error: inner\n/)]);
  });

  it('is logged together with what a filter failed with', async () => {
    expect(textOf(await client.callTool({ name: 'filtered' }))).toMatch(/^Internal error/);
    expect(log.errors).toEqual([
      expect.stringMatching(/TypeError: broken filter\n[^]*Caused by: ConflictException: original\n/),
    ]);
  });
});

const SAFE = expect.stringMatching(/^Internal error \(reference [\da-f-]{36}\)$/);
const secret = 'postgres://admin:hunter2@db.internal/shop';

interface Outcome {
  error: unknown;
  /** What the JSON-RPC error is. */
  code: number;
  message: unknown;
  data?: unknown;
  /** Whether a tool answers with a JSON-RPC error as well, rather than with a result. */
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
  'NotFoundException with a description and a cause': {
    error: new NotFoundException('No such order', { cause: new Error(secret), description: secret }),
    code: -32000,
    message: 'No such order',
    data: { statusCode: 404 },
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

describe('toFailure', () => {
  const log = new LogSpy();
  beforeAll(() => Logger.overrideLogger(log));
  beforeEach(() => log.errors.splice(0));

  it.each(Object.entries(OUTCOMES))('tells a client of %s what it may know', (_, outcome) => {
    const { code, message, data, protocol = false, logged = false } = outcome;
    const failure = toFailure(outcome.error, 'Tools.tool');
    expect(failure).toMatchObject({ error: { code, message, data }, asResult: !protocol });
    expect(log.errors).toHaveLength(logged ? 1 : 0);
    for (const entry of log.errors) {
      expect(entry).toContain(secret);
      expect(entry).toContain(/reference ([\da-f-]{36})/.exec(failure.error.message)?.[1]);
    }
  });
});
