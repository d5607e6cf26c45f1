import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Args, Ask, Ctx, inputRequest, McpErrorCode, McpException, Tool, type McpContext } from 'nestjs-mcp';

const CONFIRM = { type: 'object', properties: { confirm: { type: 'boolean' } } } as const;
const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

/** Calls that become tasks (SEP-2663). */
@Injectable()
export class TaskTools {
  @Tool({ description: 'Greets at once' })
  greet(@Args('name') name: string) {
    return `Hello, ${name}!`;
  }

  @Tool({ name: 'slow_compute', description: 'Computes for some seconds', task: 'optional' })
  async slowCompute(
    @Args('seconds') seconds: number,
    @Args('label') label: string,
    @Ctx() { signal }: McpContext,
  ) {
    await pause(seconds * 1000, undefined, { signal });
    return `${label} took ${seconds} s`;
  }

  @Tool({ name: 'failing_job', description: 'Reports an error', task: 'required' })
  async failingJob() {
    await pause(1000);
    return { content: [{ type: 'text', text: 'The job has failed' }], isError: true };
  }

  @Tool({ name: 'protocol_error_job', description: 'Fails with a protocol error', task: 'optional' })
  async protocolErrorJob() {
    await pause(100);
    throw new McpException(McpErrorCode.InternalError, 'The job has broken off');
  }

  @Tool({ name: 'confirm_delete', description: 'Asks before it deletes', task: 'optional' })
  async confirmDelete(@Args('filename') filename: string, @Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('confirm', { message: `Delete ${filename}?`, schema: CONFIRM });
    return content?.['confirm'] ? `${filename} is deleted` : `${filename} is kept`;
  }

  @Tool({ name: 'multi_input', description: 'Asks two questions at a time', task: 'optional' })
  async multiInput(@Ctx() ctx: McpContext) {
    const form = (message: string) => inputRequest.elicit({ message, schema: NAME });
    const { first, second } = await ctx.askAll({ first: form('First name?'), second: form('Second name?') });
    return JSON.stringify([first.content, second.content]);
  }

  @Tool({ name: 'test_tool_with_task', description: 'Asks who calls, then works', task: 'required' })
  withTask(@Ask('user_name', { message: 'What is your name?', schema: NAME }) { name }: { name: string }) {
    return `Hello, ${name}!`;
  }
}
