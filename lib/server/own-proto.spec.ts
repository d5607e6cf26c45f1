import { Injectable, UseGuards, type ExecutionContext } from '@nestjs/common';
import { Args, Completion, McpExecutionContext, Prompt, Tool } from 'nestjs-mcp';
import { z } from 'zod';
import { startApp, type TestApp } from '../../test/fixtures/matrix.js';

/** What reached guards and handlers. */
const seen: unknown[] = [];

const watching = {
  canActivate: (context: ExecutionContext) =>
    seen.push(McpExecutionContext.create(context).getArguments()) > 0,
};

@Injectable()
@UseGuards(watching)
class Handlers {
  @Tool({ inputSchema: { type: 'object' } })
  raw(@Args() args: unknown) {
    seen.push(args);
  }

  @Tool({ inputSchema: z.looseObject({ filter: z.any() }) })
  loose(@Args() args: unknown) {
    seen.push(args);
  }

  @Prompt({ argsSchema: { type: 'object', properties: { code: { type: 'string' } } } })
  review(@Args() args: unknown) {
    seen.push(args);
    return 'Review';
  }

  @Completion({ prompt: 'review', argument: 'code' })
  code(_typed: string, args: unknown) {
    seen.push(args);
    return [];
  }
}

const DIRTY = '{"__proto__":{"admin":true},"filter":{"a":[{"__proto__":{"admin":true},"b":1}]}}';
const CLEAN = { filter: { a: [{ b: 1 }] } };

describe.each(['modern', 'legacy'] as const)(
  'an own __proto__ of arguments reaches nobody, in the %s era:',
  era => {
    let app: TestApp;
    beforeAll(async () => (app = await startApp([Handlers], { mcp: { legacy: 'stateless' } })));
    afterAll(() => app.close());
    beforeEach(() => seen.splice(0));

    const send = async (method: string, params: string, name?: string) => {
      const version = era === 'modern' ? '2026-07-28' : '2025-11-25';
      const key = 'io.modelcontextprotocol';
      const meta = `"_meta":{"${key}/protocolVersion":"${version}","${key}/clientInfo":{"name":"raw","version":"1"},"${key}/clientCapabilities":{}},`;
      const response = await fetch(await app.url(), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': version,
          ...(era === 'modern' && { 'mcp-method': method, ...(name !== undefined && { 'mcp-name': name }) }),
        },
        body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${era === 'modern' ? meta : ''}${params}}}`,
      });
      expect(await response.text()).toContain('"result"');
    };
    const expectClean = (clean: unknown) => {
      expect(seen).toHaveLength(2);
      for (const value of seen) {
        expect(JSON.stringify(value)).not.toContain('__proto__');
        expect(value).toEqual(clean);
      }
    };

    it.each(['raw', 'loose'])('a tool: %s', async name => {
      await send('tools/call', `"name":"${name}","arguments":${DIRTY}`, name);
      expectClean(CLEAN);
    });

    it('a prompt', async () => {
      await send('prompts/get', '"name":"review","arguments":{"__proto__":"x","code":"y"}', 'review');
      expectClean({ code: 'y' });
    });

    it('a completion', async () => {
      const ref = '"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"code","value":""}';
      await send('completion/complete', `${ref},"context":{"arguments":{"__proto__":"x","a":"y"}}`);
      expect(JSON.stringify(seen)).not.toContain('__proto__');
      expect(seen.at(-1)).toEqual({ a: 'y' });
    });
  },
);
