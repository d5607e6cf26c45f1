import type { Template } from '../template.js';
import { MAIN, specOf } from './spec.js';

export const TOOL: Template = {
  type: 'tool',
  metadata: 'providers',
  packages: ['class-transformer', 'class-validator'],
  source: ({ className, pascal, camel }) => `import { Injectable } from '@nestjs/common';
import { IsString, MaxLength } from 'class-validator';
import { Args, Tool } from 'nestjs-mcp';

export class ${pascal}Dto {
  @IsString()
  @MaxLength(1000)
  text!: string;
}

@Injectable()
export class ${className} {
  @Tool({ description: 'Counts the characters of a text' })
  ${camel}(@Args() { text }: ${pascal}Dto) {
    return \`The text has \${text.length} characters\`;
  }
}
`,
  spec: values =>
    specOf(values, {
      does: 'answers',
      helpers: ['textOf'],
      imports: MAIN,
      code: `
const result = await client.call(${values.className}, '${values.camel}', { text: 'tea' });
expect(textOf(result)).toBe('The text has 3 characters');
`,
    }),
};
