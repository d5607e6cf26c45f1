import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { Shop } from './shop.js';

/** Beside the sources: it is read at start, and again whenever it changes. */
const policyFile = join(__dirname, '../../../sample/11-remote-interceptors/policy.yaml');

@Module({
  imports: [
    McpModule.forRoot({
      name: 'shop',
      version: '1.0.0',
      interceptors: {
        servers: [
          {
            name: 'privacy',
            url: process.env.PRIVACY_URL ?? 'http://127.0.0.1:3001/mcp',
            // It needs neither the tool's name nor who calls.
            send: { payload: ['/arguments/query', '/content'], context: ['trace'] },
          },
          { name: 'style', command: process.execPath, args: [join(__dirname, 'style/main.js')] },
        ],
        policyFile,
      },
    }),
  ],
  providers: [Shop],
})
export class AppModule {}
