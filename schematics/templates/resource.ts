import type { Template, Values } from '../template.js';
import { MAIN, specOf } from './spec.js';

/** A scheme has no underscores. */
const schemeOf = ({ file }: Values) => file.replaceAll('_', '-');

export const RESOURCE: Template = {
  type: 'resource',
  metadata: 'providers',
  source: values => `import { Injectable, NotFoundException } from '@nestjs/common';
import { Resource, ResourceTemplate, UriParams } from 'nestjs-mcp';

const ENTRIES: Record<string, string> = { first: 'The first entry' };

@Injectable()
export class ${values.className} {
  @Resource({ uri: '${schemeOf(values)}://all', description: 'The ids of all entries' })
  ${values.camel}() {
    return Object.keys(ENTRIES);
  }

  @ResourceTemplate({ uriTemplate: '${schemeOf(values)}://entries/{id}', description: 'One entry' })
  ${values.camel}Entry(@UriParams('id') id: string) {
    if (!Object.hasOwn(ENTRIES, id)) throw new NotFoundException(\`There is no entry \${id}\`);
    return ENTRIES[id];
  }
}
`,
  spec: values =>
    specOf(values, {
      does: 'answers',
      helpers: ['textOf'],
      imports: MAIN,
      code: `
const all = await client.readResource({ uri: '${schemeOf(values)}://all' });
expect(textOf(all)).toBe('["first"]');
const entry = await client.readResource({ uri: '${schemeOf(values)}://entries/first' });
expect(textOf(entry)).toBe('The first entry');
await expect(client.readResource({ uri: '${schemeOf(values)}://entries/second' })).rejects.toThrow();
`,
    }),
};
