import {
  createParamDecorator,
  Injectable,
  type ExecutionContext,
} from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { IsString } from 'class-validator';
import {
  Args,
  Completion,
  Ctx,
  McpContext,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
} from 'nestjs-mcp';

// #region decorated
const Language = createParamDecorator((_: unknown, context: ExecutionContext) =>
  context
    .switchToHttp()
    .getRequest<IncomingMessage>()
    .headers['accept-language']?.slice(0, 2),
);

@Injectable()
export class GreetingTools {
  @Tool({ description: 'Greet a person' })
  greet(
    @Ctx() ctx: McpContext,
    @Language() language: string | undefined,
    @Args('name') name: string,
    @Args({ name: 'loud', optional: true, description: 'In capitals' })
    loud?: boolean,
  ) {
    const text = language === 'de' ? `Hallo ${name}` : `Hello ${name}`;
    return `${loud ? text.toUpperCase() : text}, ${ctx.clientInfo?.name}!`;
  }
}
// #endregion decorated

export class NameDto {
  @IsString()
  name!: string;
}

// #region bare
@Injectable()
export class Bare {
  @Tool()
  tool({ name }: NameDto, ctx: McpContext) {
    return `${name}, ${ctx.method}`;
  }

  @Prompt()
  prompt({ name }: NameDto, ctx: McpContext) {
    return `${name}, ${ctx.method}`;
  }

  @ResourceTemplate({ uriTemplate: 'users://{id}' })
  template({ id }: { id: string }, ctx: McpContext) {
    return `${id}, ${ctx.method}`;
  }

  @Resource({ uri: 'config://app' })
  resource(nothing: undefined, ctx: McpContext) {
    return `${nothing}, ${ctx.method}`;
  }

  @Completion({ prompt: 'prompt', argument: 'name' })
  complete(typed: string, others: Record<string, string>, ctx: McpContext) {
    return [`${typed}, ${Object.keys(others).length}, ${ctx.method}`];
  }
}
// #endregion bare
