import type { Template } from '../template.js';
import { specOf } from './spec.js';

/** The view listens before it asks the host to begin, and shows what the tool returns. */
const VIEW = `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <title>Characters</title>
  <p id="result"></p>
  <script>
    const send = (message) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
    window.addEventListener('message', ({ source, data }) => {
      if (source !== window.parent) return;
      if (data.id === 1) send({ method: 'ui/notifications/initialized', params: {} });
      if (data.method !== 'ui/notifications/tool-result') return;
      const { characters } = data.params.structuredContent;
      document.querySelector('#result').textContent = characters + ' characters';
    });
    send({
      id: 1,
      method: 'ui/initialize',
      params: {
        protocolVersion: '2026-01-26',
        appInfo: { name: 'NAME', version: '1.0.0' },
        appCapabilities: {},
      },
    });
  </script>
</html>
`;

export const APP: Template = {
  type: 'app',
  metadata: 'providers',
  modules: [
    {
      metadata: 'imports',
      symbol: 'McpAppsModule',
      from: 'nestjs-mcp/apps',
      expression: 'McpAppsModule.forRoot()',
    },
  ],
  source: ({ className, camel, file }) => `import { Injectable } from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';
import { App } from 'nestjs-mcp/apps';

const HTML = \`${VIEW.replace('NAME', file)}\`;

@App({ uri: 'ui://${file}/view', html: HTML })
@Injectable()
export class ${className} {
  /** The text is for the model and for clients without views, the structured content for the view. */
  @Tool({
    description: 'Counts the characters of a text, and shows their number',
    ui: 'ui://${file}/view',
    outputSchema: {
      type: 'object',
      properties: { characters: { type: 'integer' } },
      required: ['characters'],
    },
  })
  ${camel}(@Args('text') text: string) {
    return { characters: text.length };
  }
}
`,
  spec: values =>
    specOf(values, {
      does: 'answers',
      helpers: ['jsonOf', 'textOf'],
      imports: "import { McpModule } from 'nestjs-mcp';\nimport { McpAppsModule } from 'nestjs-mcp/apps';\n",
      modules: ', McpAppsModule.forRoot()',
      code: `
const result = await client.call(${values.className}, '${values.camel}', { text: 'tea' });
expect(jsonOf(result)).toEqual({ characters: 3 });
const view = await client.readResource({ uri: 'ui://${values.file}/view' });
expect(textOf(view)).toContain('<!doctype html>');
`,
    }),
};
