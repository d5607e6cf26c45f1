import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { McpModule, Tool } from 'nestjs-mcp';
import { startApp } from '../fixtures/matrix.js';

describe('forFeature', () => {
  it('runs onModuleInit once for all that it loads', async () => {
    const inits: string[] = [];

    @Injectable()
    class Database implements OnModuleInit {
      onModuleInit() {
        inits.push('database');
      }
    }
    @Module({ providers: [Database], exports: [Database] })
    class DatabaseModule implements OnModuleInit {
      onModuleInit() {
        inits.push('database module');
      }
    }
    @Injectable()
    class Users implements OnModuleInit {
      constructor(readonly database: Database) {}

      onModuleInit() {
        inits.push('users');
      }

      @Tool()
      users() {
        return 'users';
      }
    }
    const test = await startApp([], {
      module: {
        imports: [McpModule.forFeature([Users], { imports: [DatabaseModule] })],
      },
    });
    await test.client();
    expect(inits).toEqual(['database', 'database module', 'users']);
    await test.close();
  });
});
