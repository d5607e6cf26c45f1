import { compileFunction } from 'node:vm';
import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Args, Ctx, McpContext, McpModule, Resource, Tool } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import ts from 'typescript';
import { z } from 'zod';
import type { CallTrace } from '../../lib/explorer/api.js';
import { testOf, type Called } from '../../lib/explorer/page/snippets.js';

const Sure = z.object({ isSure: z.boolean() });

@Injectable()
class Shop {
  @Tool({ description: 'Searches' })
  search(@Args('query') query: string) {
    return `2 results for ${query}`;
  }

  @Tool({ description: 'Asks first' })
  async wipe(@Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('sure', { message: 'Sure?', schema: Sure });
    return content?.isSure ? 'gone' : 'kept';
  }

  @Resource({ uri: 'shop://hours' })
  hours() {
    return '9 to 5';
  }
}

@Module({ imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })], providers: [Shop] })
class AppModule {}

const MODULES: Readonly<Record<string, unknown>> = {
  '@nestjs/testing': { Test },
  'nestjs-mcp/testing': { createTestClient },
  './app.module.js': { AppModule },
};

/** Runs the text as Jest runs a file with one test. */
async function runTest(text: string): Promise<void> {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const tests: (() => Promise<void>)[] = [];
  const file = compileFunction(outputText, ['require', 'exports', 'it', 'expect']);
  const add = (_name: string, test: () => Promise<void>) => tests.push(test);
  file((name: string) => MODULES[name], {}, add, expect);
  expect(tests).toHaveLength(1);
  await tests[0]();
}

const called = (parts: Partial<Called>): Called => ({
  server: 'shop',
  url: '',
  method: 'tools/call',
  params: { name: 'search', arguments: { query: 'lamp' } },
  caller: 'anonymous',
  revision: '2026-07-28',
  answers: [],
  ...parts,
});

const trace = (parts: Partial<CallTrace>): CallTrace => ({
  outcome: 'result',
  status: 200,
  inputRequests: [],
  chain: [],
  sinks: [],
  progress: [],
  logs: [],
  traceId: '',
  durationMs: 1,
  ...parts,
});

const textResult = (text: string): CallTrace =>
  trace({ result: { value: { resultType: 'complete', content: [{ type: 'text', text }] }, size: 1 } });

const sure = {
  method: 'elicitation/create',
  message: 'Sure?',
  answer: { action: 'accept', content: { isSure: true } },
};

describe('a call that was copied as a test', () => {
  it.each([
    ['expects the result', called({ trace: textResult('2 results for lamp') })],
    ['runs without a result', called({})],
    [
      'answers the elicitations',
      called({ params: { name: 'wipe', arguments: {} }, answers: [sure], trace: textResult('gone') }),
    ],
    [
      'expects the error',
      called({
        params: { name: 'nope', arguments: {} },
        trace: trace({ outcome: 'error', error: { code: -32602, message: 'Unknown tool: nope' } }),
      }),
    ],
    ['reads a resource', called({ method: 'resources/read', params: { uri: 'shop://hours' } })],
  ])('%s', (_case, made) => runTest(testOf(made)));

  it('fails if the result is another', async () => {
    await expect(runTest(testOf(called({ trace: textResult('3 results') })))).rejects.toThrow(
      'toMatchObject',
    );
  });
});
