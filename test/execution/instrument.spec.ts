import { CanActivate, ExecutionContext, Injectable, Module, SetMetadata, UseGuards } from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { McpModule, Tool, Validator } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import { textOf } from '../fixtures/matrix.js';

const called: string[] = [];

/** Wraps the methods of what Nest makes, and copies no metadata. */
const instrument = {
  instanceDecorator: (instance: unknown): unknown => {
    if (!(instance instanceof Tools)) return instance;
    return new Proxy(instance, {
      get(target, key, receiver) {
        const member: unknown = Reflect.get(target, key, receiver);
        if (typeof member !== 'function' || key === 'constructor') return member;
        return (...args: unknown[]) => {
          called.push(String(key));
          return (member as (...args: unknown[]) => unknown).apply(target, args);
        };
      },
    });
  },
};

@Injectable()
class Roles implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext) {
    return this.reflector.get<string>('role', context.getHandler()) !== 'admin';
  }
}

@Injectable()
class Tools {
  @Tool()
  open() {
    return 'open';
  }

  @Tool()
  @UseGuards(Roles)
  @SetMetadata('role', 'admin')
  closed() {
    return 'closed';
  }

  @Validator({ events: ['tools/call'] })
  check() {
    return true;
  }
}

@Module({ imports: [McpModule.forRoot({ name: 'test', version: '1' })], providers: [Tools] })
class App {}

it('an instrument that copies no metadata hides no handler, guard or interceptor, and wraps their calls', async () => {
  const app = await NestFactory.create(App, { logger: false, instrument });
  try {
    const client = await createTestClient(app);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['open', 'closed']);
    expect(textOf(await client.callTool({ name: 'open' }))).toBe('open');
    await expect(client.callTool({ name: 'closed' })).rejects.toMatchObject({ code: -32000 });
    expect(called).toEqual(expect.arrayContaining(['check', 'open']));
    expect(called).not.toContain('closed');
    await client.close();
  } finally {
    await app.close();
  }
});
