import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { json } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { Args, Ctx, HeaderParam, McpContext, Tool } from 'nestjs-mcp';
import { post } from '../fixtures/post.js';

export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Arguments of each type, one of them nested, and what the handler was given last. */
@Injectable()
export class Mirror {
  readonly calls: unknown[] = [];

  @Tool({
    inputSchema: {
      type: 'object',
      properties: {
        text: { type: 'string', 'x-mcp-header': 'Text' },
        count: { type: 'integer', 'x-mcp-header': 'Count' },
        flag: { type: 'boolean', 'x-mcp-header': 'Flag' },
        place: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
        note: { type: 'string' },
      },
    },
  })
  mirror(
    @Args() args: object,
    @HeaderParam('Text') text: unknown,
    @HeaderParam('count') count: unknown,
    @HeaderParam('Flag') flag: unknown,
    @HeaderParam('REGION') region: unknown,
    @Ctx() ctx: McpContext,
  ) {
    this.calls.push({ args, text, count, flag, region });
    return JSON.stringify({ text, count, flag, region, again: ctx.headerParam('Text'), era: ctx.era });
  }

  get last(): unknown {
    return this.calls.at(-1);
  }
}

export interface Answer {
  readonly status: number;
  readonly code: number | undefined;
  readonly id: unknown;
  readonly message: string | undefined;
  readonly text: string | undefined;
}

/** The headers of a call of `mirror`, beside those of its arguments. */
export const STANDARD = {
  'MCP-Protocol-Version': '2026-07-28',
  'Mcp-Method': 'tools/call',
  'Mcp-Name': 'mirror',
};

/** Sends a message with exactly these headers; a list is one header more than once. */
export async function send(url: string, message: object, headers: OutgoingHttpHeaders): Promise<Answer> {
  const sending = post(url, { id: 7, ...message }, headers);
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  const body = (await json(response).catch(() => ({}))) as {
    id?: unknown;
    error?: { code: number; message: string };
    result?: { content?: { text: string }[] };
  };
  return {
    status: response.statusCode ?? 0,
    code: body.error?.code,
    id: body.id,
    message: body.error?.message,
    text: body.result?.content?.[0]?.text,
  };
}

/** A call of `mirror`. */
export const call = (args: object, name = 'mirror'): object => ({
  method: 'tools/call',
  params: { name, arguments: args, _meta: ENVELOPE },
});
