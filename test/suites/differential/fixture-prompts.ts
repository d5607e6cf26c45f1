import { Injectable, NotFoundException } from '@nestjs/common';
import {
  Args,
  Completion,
  Ctx,
  inputRequest,
  InputRequiredException,
  McpContext,
  Prompt,
  Resource,
  ResourceTemplate,
  UriParams,
} from 'nestjs-mcp';
import { z } from 'zod';

/** What the asking handlers ask. */
export const REGION = {
  message: 'Which region?',
  schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
} as const;

@Injectable()
export class DifferentialPrompts {
  @Prompt({ name: 'naïve' })
  naive() {
    return 'Its name takes Base64 in a header.';
  }

  @Prompt({ description: 'Without arguments' })
  plain() {
    return 'Say hello.';
  }

  @Prompt({ argsSchema: z.object({ topic: z.string(), tone: z.string().optional() }) })
  explain(@Args('topic') topic: string, @Args('tone') tone?: string) {
    return [
      { role: 'user', content: { type: 'text', text: `Explain ${topic}.` } },
      { role: 'assistant', content: { type: 'text', text: tone ?? 'plainly' } },
    ];
  }

  @Completion({ prompt: 'explain', argument: 'topic' })
  topics(value: string) {
    return ['tides', 'time', 'wind'].filter(topic => topic.startsWith(value));
  }

  @Prompt()
  crashingPrompt() {
    throw new Error('a secret of the server');
  }

  @Prompt()
  askingPrompt(@Ctx() ctx: McpContext) {
    const answer = ctx.inputResponse('region');
    if (answer.kind !== 'missing') return JSON.stringify(answer);
    throw new InputRequiredException({ inputRequests: { region: inputRequest.elicit(REGION) } });
  }
}

@Injectable()
export class DifferentialResources {
  @Resource({ uri: 'config://app', cache: { ttlMs: 1000, cacheScope: 'public' } })
  config() {
    return { on: true };
  }

  @Resource({ uri: 'file:///bytes', mimeType: 'application/octet-stream' })
  bytes() {
    return Buffer.from('bytes');
  }

  @Resource({ uri: 'config://crash' })
  crashing() {
    throw new Error('a secret of the server');
  }

  @Resource({ uri: 'config://missing' })
  missing() {
    throw new NotFoundException();
  }

  @Resource({ uri: 'config://asking' })
  asking(@Ctx() ctx: McpContext) {
    const answer = ctx.inputResponse('region');
    if (answer.kind !== 'missing') return JSON.stringify(answer);
    throw new InputRequiredException({ inputRequests: { region: inputRequest.elicit(REGION) } });
  }

  @ResourceTemplate({ uriTemplate: 'users://{id}/{part}' })
  user(@UriParams('id') id: string, @UriParams('part') part: string) {
    return id === 'none' ? undefined : `${part} of ${id}`;
  }

  @Completion({ resourceTemplate: 'users://{id}/{part}', argument: 'id' })
  ids(value: string) {
    return Array.from({ length: 120 }, (_, index) => `${value}${index}`);
  }
}
