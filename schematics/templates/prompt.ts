import type { Template } from '../template.js';
import { MAIN, specOf } from './spec.js';

export const PROMPT: Template = {
  type: 'prompt',
  metadata: 'providers',
  packages: ['class-transformer', 'class-validator'],
  source: ({ className, pascal, camel }) => `import { Injectable } from '@nestjs/common';
import { IsString, MaxLength } from 'class-validator';
import { Args, Prompt } from 'nestjs-mcp';

export class ${pascal}Dto {
  @IsString()
  @MaxLength(1000)
  text!: string;
}

@Injectable()
export class ${className} {
  @Prompt({ description: 'Asks for a summary of a text' })
  ${camel}(@Args() { text }: ${pascal}Dto) {
    return \`Summarize this text:\\n\${text}\`;
  }
}
`,
  spec: values =>
    specOf(values, {
      does: 'answers',
      helpers: ['textOf'],
      imports: MAIN,
      code: `
const result = await client.getPrompt({ name: '${values.camel}', arguments: { text: 'tea' } });
expect(textOf(result)).toBe('Summarize this text:\\ntea');
`,
    }),
};
