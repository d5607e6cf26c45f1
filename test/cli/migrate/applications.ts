/** Small applications of each kind, as their authors had them. Each has a tool, a resource template and a prompt. */
const SCHEMAS = `import { z } from 'zod';

export const Search = z.object({ text: z.string() });
export const Review = z.object({ product: z.string() });
export const PRODUCTS = ['lamp', 'chair'];
`;

const PROMPT = (name: string) =>
  `{ messages: [{ role: 'user' as const, content: { type: 'text' as const, text: \`Review \${${name}}\` } }] }`;

export const APPLICATIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '@rekog/mcp-nest 1.x': {
    'package.json': JSON.stringify({ name: 'shop', dependencies: { '@rekog/mcp-nest': '^1.9.0' } }),
    'schemas.ts': SCHEMAS,
    'shop.ts': `import { Injectable } from '@nestjs/common';
import { Context, Prompt, ResourceTemplate, Tool } from '@rekog/mcp-nest';
import type { Request } from 'express';
import { z } from 'zod';
import { PRODUCTS, Review, Search } from './schemas.js';

@Injectable()
export class Shop {
  @Tool({ name: 'search', description: 'Finds products', parameters: Search })
  async search({ text }: z.infer<typeof Search>, context: Context, request: Request) {
    await context.reportProgress({ progress: 1, total: 1 });
    context.log.warn('searched', { agent: request.headers['user-agent'] ?? '' });
    return PRODUCTS.filter(name => name.includes(text)).join();
  }

  @ResourceTemplate({ name: 'product', uriTemplate: 'product://{id}' })
  product({ uri, id }: { uri: string; id: string }) {
    return { contents: [{ uri, text: PRODUCTS[Number(id)] }] };
  }

  @Prompt({ name: 'review', description: 'Reviews', parameters: Review })
  review({ product }: z.infer<typeof Review>) {
    return ${PROMPT('product')};
  }
}
`,
    'app.module.ts': `import { Module } from '@nestjs/common';
import { McpModule, McpTransportType } from '@rekog/mcp-nest';
import { Shop } from './shop.js';

@Module({
  imports: [
    McpModule.forRoot({
      name: 'shop',
      version: '1.0.0',
      transport: [McpTransportType.STREAMABLE_HTTP],
      mcpEndpoint: 'mcp',
      streamableHttp: { statelessMode: false, sessionIdGenerator: () => crypto.randomUUID() },
    }),
  ],
  providers: [Shop],
})
export class AppModule {}
`,
  },
  '@rekog/mcp-nest 2.x': {
    'package.json': JSON.stringify({ name: 'shop', dependencies: { '@rekog/mcp-nest': '^2.0.0' } }),
    'schemas.ts': SCHEMAS,
    'shop.ts': `import { Ctx, Payload } from '@nestjs/microservices';
import { McpContext, McpController, Prompt, ResourceTemplate, Tool } from '@rekog/mcp-nest';
import { z } from 'zod';
import { PRODUCTS, Review, Search } from './schemas.js';

@McpController()
export class Shop {
  @Tool({ name: 'search', description: 'Finds products', parameters: Search })
  async search(@Payload() { text }: z.infer<typeof Search>, @Ctx() context: McpContext) {
    context.log.info('searched', { client: context.getClientInfo()?.name ?? '' });
    return PRODUCTS.filter(name => name.includes(text)).join();
  }

  @ResourceTemplate({ name: 'product', uriTemplate: 'product://{id}' })
  product(@Payload() { uri, id }: { uri: string; id: string }) {
    return { contents: [{ uri, text: PRODUCTS[Number(id)] }] };
  }

  @Prompt({ name: 'review', description: 'Reviews', parameters: Review })
  review(@Payload() { product }: z.infer<typeof Review>) {
    return ${PROMPT('product')};
  }
}
`,
    'app.module.ts': `import { Module } from '@nestjs/common';
import { MCP_STRATEGY, McpStrategy, StreamableHttpTransport } from '@rekog/mcp-nest';
import { Shop } from './shop.js';

export const mcp = new McpStrategy({
  name: 'shop',
  version: '1.0.0',
  transports: [new StreamableHttpTransport({ endpoint: '/mcp', statefulMode: true })],
});

@Module({
  controllers: [Shop],
  providers: [{ provide: MCP_STRATEGY, useValue: mcp }],
})
export class AppModule {}
`,
    'main.ts': `import { NestFactory } from '@nestjs/core';
import { AppModule, mcp } from './app.module.js';

export async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  mcp.setHttpAdapter(app.getHttpAdapter());
  app.connectMicroservice({ strategy: mcp });
  await app.startAllMicroservices();
  await app.listen(3000);
}
`,
  },
  '@nestjs/mcp': {
    'package.json': JSON.stringify({ name: 'shop', dependencies: { '@nestjs/mcp': '^0.0.4' } }),
    'schemas.ts': SCHEMAS,
    'shop.ts': `import { Injectable } from '@nestjs/common';
import { Prompt, ResourceTemplate, Tool, type McpContext } from '@nestjs/mcp';
import { z } from 'zod';
import { PRODUCTS, Review, Search } from './schemas.js';

@Injectable()
export class Shop {
  @Tool({ name: 'search', description: 'Finds products', inputSchema: Search })
  search({ text }: z.infer<typeof Search>, context: McpContext) {
    return context.signal.aborted ? '' : PRODUCTS.filter(name => name.includes(text)).join();
  }

  @ResourceTemplate({ name: 'product', uriTemplate: 'product://{id}' })
  product({ id }: { id: string }) {
    return PRODUCTS[Number(id)];
  }

  @Prompt({ name: 'review', description: 'Reviews', argsSchema: Review })
  review({ product }: z.infer<typeof Review>) {
    return ${PROMPT('product')};
  }
}
`,
    'app.module.ts': `import { Module } from '@nestjs/common';
import { McpModule } from '@nestjs/mcp';
import { Shop } from './shop.js';

@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0', path: 'mcp' })],
  providers: [Shop],
})
export class AppModule {}
`,
  },
};
