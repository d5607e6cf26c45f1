import { once } from 'node:events';
import { ConflictException, Injectable, UnauthorizedException } from '@nestjs/common';
import { inputRequired, ProtocolError } from '@modelcontextprotocol/server';
import { IsInt, IsString, Max } from 'class-validator';
import { Args, Ctx, inputRequest, InputRequiredException, McpContext, McpException, Tool } from 'nestjs-mcp';
import { z } from 'zod';
import { REGION } from './fixture-prompts.js';

class Order {
  @IsString()
  item!: string;

  @IsInt()
  @Max(10)
  count!: number;
}

const ANY = { type: 'object' } as const;

/** What a handler sees of its request: a text, so that nothing of it is rewritten on the way back. */
const seenBy = (ctx: McpContext) =>
  JSON.stringify({
    requestId: ctx.requestId,
    method: ctx.method,
    era: ctx.era,
    protocolVersion: ctx.protocolVersion,
    hasSession: ctx.sessionId !== undefined,
    clientInfo: ctx.clientInfo,
    clientCapabilities: ctx.clientCapabilities,
    meta: ctx.meta,
    inputResponses: ctx.inputResponses,
    requestState: ctx.requestState(),
    isMrtrSupported: ctx.isMrtrSupported,
  });

/** Tools for everything that an answer depends on. Whatever they are sent, they answer the same each time. */
@Injectable()
export class DifferentialTools {
  @Tool({ inputSchema: z.object({ text: z.string() }), description: 'Answers with its text' })
  echo(@Args('text') text: string) {
    return text;
  }

  @Tool()
  order(@Args() { item, count }: Order) {
    return { item, count };
  }

  @Tool({ inputSchema: ANY })
  seen(@Ctx() ctx: McpContext) {
    return seenBy(ctx);
  }

  @Tool({
    outputSchema: z.object({ sum: z.number() }),
    inputSchema: z.object({ a: z.number(), b: z.number() }),
  })
  add({ a, b }: { a: number; b: number }) {
    return { sum: a + b };
  }

  @Tool({ outputSchema: { type: 'array', items: { type: 'number' } } })
  numbers() {
    return [1, 2, 3];
  }

  @Tool({ outputSchema: z.object({ sum: z.number() }) })
  wrongOutput() {
    return { sum: 'many' };
  }

  @Tool()
  unsendable() {
    return { content: [{ type: 'text', text: 'x', _meta: { big: 1n } }] };
  }

  @Tool()
  withMeta() {
    return { content: [], isError: true, _meta: { 'example.com/a': 1, resultType: 'x' }, extra: 1 };
  }

  @Tool()
  conflict() {
    throw new ConflictException('Sold out');
  }

  @Tool()
  unauthorized() {
    throw new UnauthorizedException();
  }

  @Tool()
  crash() {
    throw new Error('a secret of the server');
  }

  @Tool({ inputSchema: z.object({ code: z.number().int() }) })
  refuse(@Args('code') code: number) {
    throw new McpException(code, 'Refused by the tool', { code });
  }

  @Tool({ inputSchema: z.object({ code: z.number().int() }) })
  refuseAsSdk(@Args('code') code: number) {
    throw new ProtocolError(code, 'Refused in the words of the SDK', { code });
  }

  @Tool()
  async progress(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1, 2, 'half');
    await ctx.reportProgress({ progress: 2, total: 2 });
    return 'done';
  }

  @Tool()
  async progressThenCrash(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1);
    throw new Error('a secret of the server');
  }

  @Tool()
  async progressThenRefuse(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1);
    throw new McpException(-32021, 'Refused by the tool');
  }

  @Tool()
  async logs(@Ctx() ctx: McpContext) {
    await ctx.log.debug({ detail: 1 });
    await ctx.log.warning('careful');
    await ctx.log.emergency('over');
    return 'logged';
  }

  @Tool({
    inputSchema: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        size: { type: 'integer', 'x-mcp-header': 'Size' },
        urgent: { type: 'boolean', 'x-mcp-header': 'Urgent' },
        place: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
      },
    },
  })
  regional(@Args() args: object) {
    return JSON.stringify(args);
  }

  @Tool({ inputSchema: ANY })
  async askByException(@Ctx() ctx: McpContext) {
    const answer = ctx.inputResponse('region');
    if (answer.kind !== 'missing') return JSON.stringify(answer);
    throw new InputRequiredException({ inputRequests: { region: inputRequest.elicit(REGION) } });
  }

  @Tool({ inputSchema: ANY })
  async askByAwait(@Ctx() ctx: McpContext) {
    const { action, content } = await ctx.elicit('region', REGION);
    const roots = await ctx.roots('roots');
    return JSON.stringify({ action, content, roots });
  }

  @Tool({ inputSchema: ANY })
  askByReturning(@Ctx() ctx: McpContext) {
    if (ctx.inputResponses) return seenBy(ctx);
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() }, requestState: 'kept' });
  }

  @Tool({ inputSchema: ANY })
  askForState(@Ctx() ctx: McpContext) {
    const { times = 0 } = ctx.requestState<{ times: number }>() ?? {};
    if (times < 1) throw new InputRequiredException({ requestState: { times: times + 1 } });
    return `after ${times}`;
  }

  /** Says that it runs, and then waits to be cancelled: for sessions only. */
  @Tool()
  async wait(@Ctx() ctx: McpContext) {
    const aborted = once(ctx.signal, 'abort');
    await ctx.reportProgress(1);
    await aborted;
  }

  @Tool({ inputSchema: z.object({ uri: z.string() }) })
  touch(@Args('uri') uri: string, @Ctx() ctx: McpContext) {
    ctx.sendResourceUpdated(uri);
    return 'touched';
  }
}
