import { Injectable, Scope, type Type } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { Args, Completion, McpModule, Prompt, Resource, ResourceTemplate, Tool } from 'nestjs-mcp';
import * as v from 'valibot';
import { z } from 'zod';
import { startApp, type TestAppOptions } from '../fixtures/matrix.js';

/** Why the application does not start, or what kept it from failing. */
async function mistakeOf(start: () => Promise<unknown>): Promise<string> {
  try {
    await start();
  } catch (error) {
    const { name, message } = error as Error;
    return `${name}: ${message}`;
  }
  return 'it started';
}

const mistake = (handlers: Type[], options?: TestAppOptions) => mistakeOf(() => startApp(handlers, options));

/** A class called `Handlers` with one method `handle`, decorated like this. */
function handlersWith(...decorators: MethodDecorator[]): Type {
  @Injectable()
  class Handlers {
    handle(@Args('code') _code: string) {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Handlers.prototype, 'handle')!;
  for (const decorate of decorators) decorate(Handlers.prototype, 'handle', descriptor);
  return Handlers;
}

const circular: { input?: never } = {};
const prompt = Prompt({ name: 'review', argsSchema: z.object({ code: z.string() }) });
const template = ResourceTemplate({ uriTemplate: 'users://{id}' });

/** One mistake in a declaration, and the sentence that says so. */
const MISTAKES: [string, MethodDecorator[], RegExp][] = [
  [
    'a tool’s name',
    [Tool({ name: 'my tool' })],
    /"my tool" is not a tool name: use 1 to 128 letters, digits, /,
  ],
  ['a tool’s name that is empty', [Tool({ name: '' })], /"" is not a tool name/],
  ['a tool’s name that is too long', [Tool({ name: 'x'.repeat(129) })], /is not a tool name/],
  ['a resource’s URI without a scheme', [Resource({ uri: 'app' })], /"app" is not a resource URI: .*scheme/],
  [
    'a resource’s URI with a space',
    [Resource({ uri: 'a://b c' })],
    /"a:\/\/b c" is not a resource URI: .*percent-encoded/,
  ],
  [
    'a template that is none',
    [ResourceTemplate({ uriTemplate: 'users://{id' })],
    /"users:\/\/\{id".* has a stray/,
  ],
  ['a template without a scheme', [ResourceTemplate({ uriTemplate: '{+all}' })], /literal scheme/],
  [
    'a template that cannot be matched',
    [ResourceTemplate({ uriTemplate: 'a://{b}{c}' })],
    /two variables with nothing between/,
  ],
  [
    'a schema without JSON Schema',
    [Tool({ inputSchema: v.object({ a: v.string() }) as never })],
    /the valibot schema carries no JSON Schema: wrap it in toStandardJsonSchema\(\) of @valibot\/to-json-schema/,
  ],
  [
    'a schema that JSON Schema cannot say',
    [Tool({ inputSchema: z.object({ at: z.date() }) })],
    /the zod schema .* JSON Schema .*: use types that JSON has, or pass JSON Schema/,
  ],
  ['an input that is no object', [Tool({ inputSchema: z.string() })], /object/],
  [
    'an input that a circular import left undefined',
    [Tool({ inputSchema: circular.input })],
    /the schema is undefined: look for a circular import/,
  ],
  [
    'an output that a circular import left undefined',
    [Tool({ outputSchema: circular.input })],
    /the schema is undefined: look for a circular import/,
  ],
  [
    'an output that is no schema',
    [Tool({ outputSchema: 'text' as never })],
    /a schema is a class, a Standard Schema or JSON Schema, not "text"/,
  ],
  ['a completion of nothing', [Completion({ argument: 'a' })], /needs either "prompt" or "resourceTemplate"/],
  [
    'a completion of two things',
    [prompt, template, Completion({ prompt: 'review', resourceTemplate: 'users://{id}', argument: 'id' })],
    /needs either "prompt" or "resourceTemplate"/,
  ],
  [
    'a completion of an unknown prompt',
    [Completion({ prompt: 'nope', argument: 'a' })],
    /it completes "a" of "nope", which the server "test" does not have/,
  ],
  [
    'a completion of an unknown argument',
    [prompt, Completion({ prompt: 'review', argument: 'style' })],
    /it completes "style" of "review", which the server "test" does not have/,
  ],
  [
    'a completion of an unknown template',
    [template, Completion({ resourceTemplate: 'orders://{id}', argument: 'id' })],
    /it completes "id" of "orders:\/\/\{id\}", which/,
  ],
  [
    'a completion of an unknown variable',
    [template, Completion({ resourceTemplate: 'users://{id}', argument: 'name' })],
    /it completes "name" of "users:\/\/\{id\}", which/,
  ],
  [
    'an unknown server',
    [Tool({ server: 'admin' })],
    /the MCP server "admin" does not exist; servers are "test"/,
  ],
  [
    'two tools of one name',
    [Tool({ name: 'a' }), Tool({ name: 'a' })],
    /the tool "a" already exists in Handlers\.handle; /,
  ],
  [
    'two prompts of one name',
    [Prompt(), Prompt()],
    /the prompt "handle" already exists in Handlers\.handle; /,
  ],
  [
    'two resources of one URI',
    [Resource({ uri: 'a://b' }), Resource({ uri: 'a://b' })],
    /the resource "a:\/\/b" already exists/,
  ],
  ['one template twice', [template, template], /the resource template "users:\/\/\{id\}" already exists/],
  [
    'two completions of one argument',
    [prompt, ...[1, 2].map(() => Completion({ prompt: 'review', argument: 'code' }))],
    /the completion .*review.* already exists/,
  ],
];

describe('a mistake in a declaration stops the start, and names class, method and remedy:', () => {
  it.each(MISTAKES)('%s', async (_what, decorators, sentence) => {
    const error = await mistake([handlersWith(...decorators)]);
    expect(error).toMatch(/^McpBootstrapError: Handlers\.handle: [^\n]+$/);
    expect(error).toMatch(sentence);
  });
});

describe('a class that cannot be served stops the start:', () => {
  it('a transient provider', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Fleeting {
      @Tool()
      tool() {}
    }
    expect(await mistake([Fleeting])).toMatch(
      /^McpBootstrapError: Fleeting\.tool: its class is a transient provider, .*; use the default or the REQUEST scope$/,
    );
  });

  it('a static method', () => {
    const declare = () => {
      class Static {
        @Tool()
        static tool() {}
      }
      return Static;
    };
    expect(declare).toThrow(
      'Static.tool: a static method cannot be an MCP handler; remove "static" and list Static in providers',
    );
  });

  it('two classes that inherit one handler', async () => {
    abstract class Base {
      @Tool()
      search() {}
    }
    @Injectable()
    class Books extends Base {}
    @Injectable()
    class Films extends Base {}
    expect(await mistake([Books, Films])).toBe(
      'McpBootstrapError: Films.search: the tool "search" already exists in Books.search; give one of them another name',
    );
  });

  it('a class that two modules provide', async () => {
    const handlers = handlersWith(Tool());
    class Feature {}
    const module = { imports: [{ module: Feature, providers: [handlers] }] };
    expect(await mistake([handlers], { module })).toBe(
      'McpBootstrapError: Handlers.handle: the tool "handle" already exists in Handlers.handle; ' +
        'declare it once, and list its class in the providers of one module only',
    );
  });
});

describe('servers that cannot stand side by side stop the start:', () => {
  const second = (options: object) => ({
    module: {
      imports: [McpModule.forRoot({ name: 'second', version: '1', http: { path: '/2' }, ...options })],
    },
  });

  it.each<[string, object, string]>([
    [
      'two of one name',
      { name: 'test' },
      'McpModule.forRoot({ name: "test" }): another server has this name; give each server its own "name"',
    ],
    [
      'two on one path',
      { http: { path: 'MCP/' } },
      'McpModule.forRoot({ name: "second" }): "test" is already served at /mcp; give each server its own "http.path"',
    ],
    ['two on one path, the default', { http: undefined }, '"test" is already served at /mcp'],
  ])('%s', async (_what, options, sentence) => {
    expect(await mistake([], second(options))).toContain(sentence);
  });

  it('one on an HTTP adapter without hooks and without middleware', async () => {
    class KoaAdapter extends ExpressAdapter {
      override getType = () => 'koa';
      override getInstance = <T>() => ({}) as T;
    }
    const testing = await Test.createTestingModule({
      imports: [McpModule.forRoot({ name: 'test', version: '1' })],
    }).compile();
    const start = async () => testing.createNestApplication(new KoaAdapter()).init();
    expect(await mistakeOf(start)).toMatch(
      /McpBootstrapError: McpModule\.forRoot\(\{ name: "test" \}\): the HTTP adapter "koa" has neither "addHook" nor "use" on its instance; .* set "http" to false/,
    );
  });
});
