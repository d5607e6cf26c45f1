import { Inject, Injectable, UseGuards, type CanActivate } from '@nestjs/common';
import {
  Args,
  Ctx,
  McpContext,
  McpModule,
  McpServerRegistry,
  Tool,
  Validator,
  Visible,
  mcpHeader,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { z } from 'zod';
import { App, McpAppsModule } from 'nestjs-mcp/apps';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { McpToolSearchModule, McpToolsetsModule, Toolset } from 'nestjs-mcp/toolsets';
import { MCP_SERVERS, type McpServers } from '../../lib/module/mcp-servers.js';
import { anyPlatform, startApp, textOf, type TestApp, type TestAppOptions } from '../fixtures/matrix.js';

class Nobody implements CanActivate {
  canActivate() {
    return false;
  }
}

const seen: string[] = [];

@Injectable()
class Shop {
  @Tool({
    description: 'Finds products in the catalogue',
    annotations: { readOnlyHint: true, openWorldHint: false },
  })
  findProducts() {
    return 'products';
  }

  @Toolset('billing')
  @Tool({
    description: 'Pays an invoice',
    inputSchema: z.object({ id: z.int().meta(mcpHeader('Invoice')) }),
    annotations: { destructiveHint: false, openWorldHint: false },
  })
  payInvoice(@Args() { id }: { id: number }) {
    return `paid ${id}`;
  }

  @Toolset('billing')
  @Tool({ description: 'Cancels an order', hints: { searchHint: 'storno' } })
  async cancelOrder(@Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('why', {
      message: 'Why?',
      schema: { type: 'object', properties: { reason: { type: 'string' } } },
    });
    return `cancelled: ${String(content?.['reason'])}`;
  }

  @Visible(Nobody)
  @Tool({ description: 'Pays a secret invoice' })
  secret() {
    return 'secret';
  }

  @UseGuards(Nobody)
  @Tool({ description: 'Deletes a product' })
  deleteProduct() {
    return 'deleted';
  }
}

@Injectable()
class Watch {
  @Validator({ events: ['tools/call'], phase: 'request' })
  watch({ payload }: InterceptorInvocation) {
    seen.push((payload as { name: string }).name);
    return true;
  }
}

describe.each(['modern', 'legacy'] as const)('a search of tools, for %s clients', era => {
  const [platform] = anyPlatform();
  const apps: TestApp[] = [];
  afterEach(() => Promise.all(apps.splice(0).map(app => app.close())));

  const start = async (
    module: ReturnType<typeof McpToolSearchModule.forRoot> = McpToolSearchModule.forRoot(),
    { imports = [], ...options }: TestAppOptions & { imports?: object[] } = {},
  ) => {
    const app = await startApp([Shop, Watch], {
      platform,
      module: { imports: [module, ...(imports as never[])] },
      ...options,
    });
    apps.push(app);
    return app;
  };
  const search = async (app: TestApp, query: string, path = '/mcp') => {
    const client = await app.client({ era, path });
    const text = textOf(await client.callTool({ name: 'search_tools', arguments: { query } }));
    return text.split('\n\n').map(one => one.split('\n')[0]);
  };

  it('lists two tools, and those that are always visible', async () => {
    const app = await start(McpToolSearchModule.forRoot({ alwaysVisible: ['findProducts'] }), {
      mcp: { pageSize: 2 },
    });
    const client = await app.client({ era });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(['call_tool', 'findProducts', 'search_tools']);
    // Because of the tools without annotations.
    expect(tools.find(({ name }) => name === 'call_tool')?.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    });
    await expect(client.listTools({ cursor: 'next' })).rejects.toThrow('Unknown cursor');
  });

  it('has the annotations of the least permissive tool that the caller sees', async () => {
    class Readers {
      @Tool({ annotations: { readOnlyHint: true, openWorldHint: false } })
      read() {
        return '';
      }

      @Visible(Nobody)
      @Tool()
      write() {
        return '';
      }
    }
    const app = await startApp([Readers], { platform, module: { imports: [McpToolSearchModule.forRoot()] } });
    apps.push(app);
    const { tools } = await (await app.client({ era })).listTools();
    expect(tools.find(({ name }) => name === 'call_tool')?.annotations).toMatchObject({
      readOnlyHint: true,
      destructiveHint: false,
      openWorldHint: false,
    });
  });

  it('finds tools by name, description, hint and parameter, and only those that the caller sees', async () => {
    const app = await start();
    expect((await search(app, 'pay an invoice'))[0]).toBe('payInvoice');
    expect(await search(app, 'pay a secret invoice')).not.toContain('secret');
    expect((await search(app, 'storno'))[0]).toBe('cancelOrder');
    expect(await search(app, 'search_tools call_tool weather')).toEqual([
      'No tool matches. Try other words.',
    ]);
    const client = await app.client({ era });
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'invoice', limit: 1 } });
    const [name, description, schema, ...rest] = textOf(found).split('\n');
    expect([name, description, rest]).toEqual(['payInvoice', 'Pays an invoice', []]);
    expect(JSON.parse(schema)).toMatchObject({ properties: { id: { type: 'integer' } }, required: ['id'] });
  });

  it('finds what is added at run time', async () => {
    const app = await start();
    await app.app.get(McpServerRegistry).add('tool', { name: 'weather' }, () => 'rain');
    expect((await search(app, 'weather'))[0]).toBe('weather');
  });

  it('calls what is found, and what is not listed by its own name, with guards and interceptors', async () => {
    const client = await (
      await start()
    ).client({ era, onElicit: () => ({ action: 'accept', content: { reason: 'late' } }) });
    const call = (name: string, args?: object) =>
      client.callTool({ name: 'call_tool', arguments: { name, arguments: args } });
    seen.length = 0;
    expect(textOf(await call('payInvoice', { id: 7 }))).toBe('paid 7');
    expect(textOf(await client.callTool({ name: 'findProducts' }))).toBe('products');
    expect(seen).toEqual(['payInvoice', 'findProducts']);
    expect(textOf(await call('cancelOrder'))).toBe('cancelled: late');
    await expect(call('secret')).rejects.toThrow('Unknown tool: secret');
    await expect(call('none')).rejects.toThrow('Unknown tool: none');
    await expect(call('deleteProduct')).rejects.toThrow('Forbidden');
    expect(textOf(await call('payInvoice', { id: 'x' }))).toContain('id');
    expect(textOf(await call('call_tool', { name: 'payInvoice' }))).toContain('does not call itself');
    expect(textOf(await client.callTool({ name: 'call_tool', arguments: { name: 7 } }))).toContain('name');
  });

  it('is observed as what it calls, and a search as one call', async () => {
    const observed: string[] = [];
    @Injectable()
    class Observer {
      constructor(@Inject(MCP_SERVERS) servers: McpServers) {
        servers.observe('the test', {
          begin: ({ method, params }) => {
            observed.push(`${method} ${String(params?.['name'])}`);
            return undefined;
          },
        });
      }
    }
    const module = { imports: [McpToolSearchModule.forRoot()], providers: [Observer] };
    const app = await startApp([Shop, Watch], { platform, module });
    apps.push(app);
    const client = await app.client({ era });
    observed.length = 0;
    await client.callTool({ name: 'search_tools', arguments: { query: 'invoice' } });
    await client.callTool({ name: 'call_tool', arguments: { name: 'payInvoice', arguments: { id: 7 } } });
    expect(observed).toEqual(['tools/call search_tools', 'tools/call payInvoice']);
  });

  it('can become a task of the tool that it calls', async () => {
    class Reports {
      @Tool({ task: 'required' })
      report() {
        return 'ready';
      }
    }
    const imports = [McpToolSearchModule.forRoot(), McpTasksModule.forRoot()];
    const app = await startApp([Reports], { platform, module: { imports } });
    apps.push(app);
    const client = await app.client({ era });
    const call = { name: 'call_tool', arguments: { name: 'report' } };
    const task = await client.startTool(call);
    expect(textOf(await task.result())).toBe('ready');
    // Only clients of 2026-07-28 have tasks.
    expect(task.id !== undefined).toBe(era === 'modern');
  });

  it('refuses a header that contradicts the arguments of the tool', async () => {
    const app = await start();
    const call = async (invoice: string) => {
      const client = await app.client({ era, headers: { 'mcp-param-invoice': invoice } });
      return client.callTool({ name: 'call_tool', arguments: { name: 'payInvoice', arguments: { id: 7 } } });
    };
    expect(textOf(await call('7'))).toBe('paid 7');
    if (era === 'legacy') return;
    await expect(call('8')).rejects.toThrow('Mcp-Param-Invoice header differs');
  });

  it('searches and lists within a set', async () => {
    const app = await start(undefined, { imports: [McpToolsetsModule.forRoot()] });
    expect((await search(app, 'products invoice order', '/mcp/x/billing')).sort()).toEqual([
      'cancelOrder',
      'payInvoice',
    ]);
    expect(await search(app, 'products invoice order', '/mcp/readonly')).toEqual(['findProducts']);
    const reader = await app.client({ era, path: '/mcp/readonly' });
    expect(
      (await reader.listTools()).tools.find(({ name }) => name === 'call_tool')?.annotations,
    ).toMatchObject({
      readOnlyHint: true,
    });
    const pay = reader.callTool({
      name: 'call_tool',
      arguments: { name: 'payInvoice', arguments: { id: 1 } },
    });
    await expect(pay).rejects.toThrow('Unknown tool: payInvoice');
  });

  it('belongs to its own server', async () => {
    @Injectable()
    class Other {
      @Tool({ server: 'other', description: 'Finds a secret of another server' })
      other() {
        return 'secret';
      }
    }
    const app = await startApp([Shop, Watch, Other], {
      platform,
      module: {
        imports: [
          McpToolSearchModule.forRoot({ server: 'test' }),
          McpModule.forRoot({ name: 'other', version: '1', http: { path: '/other' } }),
          McpToolSearchModule.forRoot({ server: 'other' }),
        ],
      },
    });
    apps.push(app);
    expect(await search(app, 'secret other', '/mcp')).not.toContain('other');
    expect(await search(app, 'secret other', '/other')).toEqual(['other']);
  });

  it('lists tools with a view, and finds no tool that is for views only', async () => {
    @App({ uri: 'ui://board', html: '<p>Board</p>' })
    @Injectable()
    class Board {
      @Tool({ ui: 'ui://board', description: 'Shows the board' })
      board() {
        return 'board';
      }

      @Tool({ ui: { visibility: ['app'] }, description: 'Moves a card of the board' })
      move() {
        return 'moved';
      }
    }
    const imports = [McpToolSearchModule.forRoot(), McpAppsModule.forRoot()];
    const app = await startApp([Board, Shop, Watch], { platform, module: { imports } });
    apps.push(app);
    const { tools } = await (await app.client({ era })).listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(['board', 'call_tool', 'move', 'search_tools']);
    const found = await search(app, 'board card');
    expect([found.includes('board'), found.includes('move')]).toEqual([true, false]);
  });

  it('refuses a name in "alwaysVisible" that no tool has', async () => {
    await expect(start(McpToolSearchModule.forRoot({ alwaysVisible: ['none'] }))).rejects.toThrow(
      '"alwaysVisible" names "none", which is no tool of the server "test"',
    );
  });
});
