import type { Template } from '../template.js';
import { specOf } from './spec.js';

export const INTERCEPTOR: Template = {
  type: 'interceptor',
  metadata: 'providers',
  source: ({ className, camel }) => `import { Injectable } from '@nestjs/common';
import { deny, Validator, type InterceptorInvocation } from 'nestjs-mcp';

const MAX_LENGTH = 10_000;

@Injectable()
export class ${className} {
  @Validator({ events: ['tools/call'] })
  ${camel}({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const { length } = JSON.stringify(payload.arguments ?? {});
    return length <= MAX_LENGTH || deny('The arguments are too long', { path: 'arguments' });
  }
}
`,
  spec: values =>
    specOf(values, {
      does: 'validates calls of',
      helpers: ['textOf'],
      imports: "import { Args, McpModule, Tool } from 'nestjs-mcp';\n",
      providers: ', Echo',
      declarations: `
class Echo {
  @Tool({ description: 'Says a text again' })
  echo(@Args('text') text: string) {
    return text;
  }
}
`,
      code: `
expect(textOf(await client.call(Echo, 'echo', { text: 'tea' }))).toBe('tea');
const call = client.callTool({ name: 'echo', arguments: { text: 'tea'.repeat(10_000) } });
await expect(call).rejects.toMatchObject({
  data: { validationErrors: [{ message: 'The arguments are too long' }] },
});
`,
    }),
};
