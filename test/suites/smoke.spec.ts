import { EventEmitter, once } from 'node:events';
import { ConflictException, Injectable } from '@nestjs/common';
import { acceptedContent, inputRequired } from '@modelcontextprotocol/server';
import type { Client } from '@modelcontextprotocol/client';
import {
  Args,
  Completion,
  Ctx,
  McpContext,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  UriParams,
} from 'nestjs-mcp';
import { z } from 'zod';
import { cells, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Everything {
  readonly events = new EventEmitter();

  @Tool({ inputSchema: z.object({ who: z.string() }), outputSchema: z.object({ greeting: z.string() }) })
  greet({ who }: { who: string }) {
    return { greeting: `Hello, ${who}!` };
  }

  @Tool()
  fail() {
    throw new ConflictException('Sold out');
  }

  @Tool()
  async progress(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1, 2, 'half');
    await ctx.reportProgress({ progress: 2, total: 2 });
    return 'done';
  }

  @Tool()
  async wait(@Ctx() { signal }: McpContext) {
    this.events.emit('waiting');
    await once(signal, 'abort');
    this.events.emit('aborted');
  }

  @Tool()
  async ask(@Ctx() ctx: McpContext) {
    const { action, content } = await ctx.elicit('region', {
      message: 'Where?',
      schema: z.object({ region: z.string() }),
    });
    return action === 'accept' ? `Deployed to ${content.region}` : action;
  }

  @Tool({ inputSchema: z.object({}) })
  region(@Ctx() { inputResponses }: McpContext) {
    const answer = acceptedContent<{ region: string }>(inputResponses, 'region');
    if (answer) return `Deployed to ${answer.region}`;
    const requestedSchema = {
      type: 'object' as const,
      properties: { region: { type: 'string' as const } },
      required: ['region'],
    };
    return inputRequired({
      inputRequests: { region: inputRequired.elicit({ message: 'Where?', requestedSchema }) },
    });
  }

  @Prompt({ argsSchema: z.object({ topic: z.string() }) })
  explain(@Args('topic') topic: string) {
    return `Explain ${topic}.`;
  }

  @Completion({ prompt: 'explain', argument: 'topic' })
  topics(value: string) {
    return ['tides', 'time', 'wind'].filter(topic => topic.startsWith(value));
  }

  @Resource({ uri: 'config://app' })
  config() {
    return 'on';
  }

  @ResourceTemplate({ uriTemplate: 'users://{id}' })
  user(@UriParams('id') id: string) {
    return `user ${id}`;
  }
}

/** Everything that a client does, once over each way to reach a server: the rules have tests of their own elsewhere. */
describe.each(cells())('over $name', ({ platform, era, legacy }) => {
  const hasSession = era === 'legacy' && legacy === 'sessions';
  const canAsk = era === 'modern' || hasSession;
  let test: TestApp;
  let client: Client;

  beforeAll(async () => {
    test = await startApp([Everything], { platform, mcp: { legacy } });
    client = await test.client({
      era,
      onElicit: () => ({ action: 'accept', content: { region: 'eu' } }),
    });
  });
  afterAll(() => test.close());

  it('a client lists what there is', async () => {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'greet',
      'fail',
      'progress',
      'wait',
      'ask',
      'region',
    ]);
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'explain' }]);
    expect((await client.listResources()).resources).toMatchObject([{ uri: 'config://app' }]);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'users://{id}' },
    ]);
  });

  it('a client calls a tool', async () => {
    const result = await client.callTool({ name: 'greet', arguments: { who: 'Ada' } });
    expect(result.structuredContent).toEqual({ greeting: 'Hello, Ada!' });
  });

  it('a client gets a prompt, and completes its argument', async () => {
    const { messages } = await client.getPrompt({ name: 'explain', arguments: { topic: 'tides' } });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Explain tides.' } }]);
    const ref = { type: 'ref/prompt' as const, name: 'explain' };
    const { completion } = await client.complete({ ref, argument: { name: 'topic', value: 'ti' } });
    expect(completion.values).toEqual(['tides', 'time']);
  });

  it('a client reads a resource, and one of a template', async () => {
    expect((await client.readResource({ uri: 'config://app' })).contents).toMatchObject([{ text: 'on' }]);
    expect((await client.readResource({ uri: 'users://7' })).contents).toMatchObject([{ text: 'user 7' }]);
  });

  it('a failure is an error of its request', async () => {
    const failed = await client.callTool({ name: 'fail' });
    expect(failed).toMatchObject({ isError: true, content: [{ text: 'Sold out' }] });
    const invalid = await client.callTool({ name: 'greet' });
    expect(invalid.isError).toBe(true);
    await expect(client.callTool({ name: 'missing' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri: 'config://none' })).rejects.toThrow('config://none');
  });

  it('reports progress', async () => {
    const seen: unknown[] = [];
    await client.callTool({ name: 'progress' }, { onprogress: report => seen.push(report) });
    expect(seen).toEqual([
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, total: 2 },
    ]);
  });

  it(canAsk ? 'asks the user' : 'refuses to ask where nobody can answer', async () => {
    const result = await client.callTool({ name: 'ask' });
    if (canAsk) expect(textOf(result)).toBe('Deployed to eu');
    else expect(result.isError).toBe(true);
  });

  it(canAsk ? 'passes inputRequired through' : 'refuses inputRequired where nobody can answer', async () => {
    const result = await client.callTool({ name: 'region' });
    if (canAsk) expect(textOf(result)).toBe('Deployed to eu');
    else expect(result.isError).toBe(true);
  });

  it('fires the signal when the client cancels', async () => {
    const { events } = test.app.get(Everything);
    const caller = await test.client({ era });
    const cancel = new AbortController();
    const waiting = once(events, 'waiting');
    const aborted = once(events, 'aborted');
    const call = caller.callTool({ name: 'wait' }, { signal: cancel.signal });
    await waiting;
    // A 2025-era client without a session has no way to name the call it cancels, but it can hang up.
    if (era === 'legacy' && !hasSession) await caller.close();
    else cancel.abort();
    await expect(call).rejects.toThrow();
    await aborted;
  });
});
