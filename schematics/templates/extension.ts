import type { Template } from '../template.js';
import { MAIN, specOf } from './spec.js';

export const EXTENSION: Template = {
  type: 'extension',
  metadata: 'providers',
  packages: ['class-transformer', 'class-validator'],
  source: ({ className, pascal, file }) => `import { IsString, MaxLength } from 'class-validator';
import { Args, ExtensionMethod, McpExtension } from 'nestjs-mcp';

export class ${pascal}Params {
  @IsString()
  @MaxLength(1000)
  text!: string;
}

/** Put a domain of yours in place of \`com.example\`. */
@McpExtension({ id: 'com.example/${file}' })
export class ${className} {
  @ExtensionMethod('${file}/count')
  count(@Args() { text }: ${pascal}Params) {
    return { characters: text.length };
  }
}
`,
  spec: values =>
    specOf(values, {
      does: 'answers',
      imports: `import { fromJsonSchema } from '@modelcontextprotocol/client';\n${MAIN}`,
      code: `
const result = await client.request(
  { method: '${values.file}/count', params: { text: 'tea' } },
  fromJsonSchema<{ characters: number }>({ type: 'object', required: ['characters'] }),
);
expect(result.characters).toBe(3);
`,
    }),
};
