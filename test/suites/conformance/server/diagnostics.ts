import { Injectable } from '@nestjs/common';
import { inputRequired } from '@modelcontextprotocol/server';
import { Ctx, McpServerRegistry, Tool, type McpContext } from 'nestjs-mcp';

/** Tools with which a test brings about what it looks for. */
@Injectable()
export class Diagnostics {
  private readonly added = new Set<'tool' | 'prompt' | 'resource'>();

  constructor(private readonly registry: McpServerRegistry) {}

  @Tool({ name: 'test_missing_capability', description: 'Needs a client that can sample' })
  missingCapability(@Ctx() { inputResponses }: McpContext) {
    if (inputResponses !== undefined) return 'The client can sample';
    const answer = inputRequired.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'Say something' } }],
      maxTokens: 16,
    });
    return inputRequired({ inputRequests: { answer } });
  }

  @Tool({ name: 'test_streaming_elicitation', description: 'Answers without a request of its own' })
  noRequests() {
    return 'Nothing but this result was sent';
  }

  @Tool({ name: 'test_logging_tool', description: 'Logs one message, for clients that asked for it' })
  async logOnce(@Ctx() ctx: McpContext) {
    await ctx.log.info('Only for those who set a level');
    return 'One message was logged';
  }

  @Tool({ name: 'test_trigger_tool_change', description: 'Adds a tool, or removes it again' })
  toggleTool() {
    return this.toggle('tool');
  }

  @Tool({ name: 'test_trigger_prompt_change', description: 'Adds a prompt, or removes it again' })
  togglePrompt() {
    return this.toggle('prompt');
  }

  private async toggle(kind: 'tool' | 'prompt'): Promise<string> {
    const name = `added_${kind}`;
    if (this.added.delete(kind)) {
      this.registry.remove(kind, name);
      return `${name} was removed`;
    }
    this.added.add(kind);
    await this.registry.add(kind, { name, description: 'Added at run time' }, () => 'Here for now');
    return `${name} was added`;
  }
}
