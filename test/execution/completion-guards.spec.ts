import { Injectable, UseGuards, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { Completion, McpExecutionContext, Prompt, ResourceTemplate } from 'nestjs-mcp';
import { outcomeOf } from '../gateway/support.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';

/** Lets in callers that say so in a header of this name. */
function admits(header: string): Type<CanActivate> {
  @Injectable()
  class HeaderGuard implements CanActivate {
    canActivate(context: ExecutionContext) {
      return McpExecutionContext.create(context).getContext().headers[header] === 'yes';
    }
  }
  return HeaderGuard;
}
const Reader = admits('x-reader');
const Completer = admits('x-completer');

@Injectable()
class Secrets {
  readonly completed: string[] = [];

  @Prompt({ argsSchema: { type: 'object', properties: { topic: { type: 'string' } } } })
  @UseGuards(Reader)
  talk() {
    return 'talk';
  }

  @ResourceTemplate({ uriTemplate: 'secret://{id}' })
  @UseGuards(Reader)
  secret() {
    return 'secret';
  }

  @ResourceTemplate({ uriTemplate: 'open://{id}' })
  open() {
    return 'open';
  }

  @Completion({ prompt: 'talk', argument: 'topic' })
  topics(typed: string) {
    return this.complete(typed);
  }

  @Completion({ resourceTemplate: 'secret://{id}', argument: 'id' })
  @UseGuards(Completer)
  ids(typed: string) {
    return this.complete(typed);
  }

  @Completion({ resourceTemplate: 'open://{id}', argument: 'id' })
  @UseGuards(Completer)
  openIds(typed: string) {
    return this.complete(typed);
  }

  private complete(typed: string) {
    this.completed.push(typed);
    return [`${typed}!`];
  }
}

const TALK = { ref: { type: 'ref/prompt', name: 'talk' }, argument: { name: 'topic', value: 'x' } } as const;
const idOf = (uri: string) =>
  ({ ref: { type: 'ref/resource', uri }, argument: { name: 'id', value: 'x' } }) as const;

describe('a @Completion method', () => {
  let test: TestApp;
  const complete = async (params: Parameters<Client['complete']>[0], ...admitted: string[]) => {
    const headers = Object.fromEntries(admitted.map(name => [`x-${name}`, 'yes']));
    return outcomeOf((await test.client({ headers })).complete(params));
  };

  beforeAll(async () => (test = await startApp([Secrets])));
  beforeEach(() => test.app.get(Secrets).completed.splice(0));
  afterAll(() => test.close());

  it.each([
    ['of a guarded prompt, whose guards refuse', TALK, []],
    ['of a guarded resource template, whose guards refuse', idOf('secret://{id}'), ['completer']],
    ['with guards that refuse, of a guarded resource template', idOf('secret://{id}'), ['reader']],
    ['with guards that refuse', idOf('open://{id}'), []],
  ])('does not run: %s', async (_, params, admitted) => {
    expect(await complete(params, ...admitted)).toMatchObject({
      code: -32000,
      message: 'Forbidden resource',
    });
    expect(test.app.get(Secrets).completed).toEqual([]);
  });

  it.each([
    ['of a guarded prompt', TALK, ['reader']],
    ['with guards, of a guarded resource template', idOf('secret://{id}'), ['reader', 'completer']],
    ['with guards', idOf('open://{id}'), ['completer']],
  ])('runs where all guards admit the caller: %s', async (_, params, admitted) => {
    expect(await complete(params, ...admitted)).toMatchObject({ completion: { values: ['x!'] } });
  });
});
