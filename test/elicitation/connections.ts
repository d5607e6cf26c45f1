import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { connect, connectStdio, listen, type ClientSetup, type Running } from '../gateway/support.js';
import { mrtrModule } from '../fixtures/mrtr-app.js';

const fixtures = join(__dirname, '../fixtures');

/** The application that asks, as a process of its own. */
export const STDIO_APP = {
  command: process.execPath,
  args: ['-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'mrtr-app.ts')],
  env: { PATH: process.env['PATH'] ?? '', MRTR_STDIO: '1' },
  stderr: 'ignore' as const,
};

/** Everything there is to open a connection to. */
export class Servers {
  private sessions?: Running;
  private stateless?: Running;

  async open(): Promise<void> {
    this.sessions = await listen(mrtrModule());
    this.stateless = await listen(mrtrModule({ legacy: 'stateless' }));
  }

  connect(name: ConnectionName, setup: ClientSetup): Promise<Client> {
    switch (name) {
      case 'modern HTTP':
        return connect(this.sessions!.url, 'modern', setup);
      case 'modern stdio':
        return connectStdio(STDIO_APP, 'modern', setup);
      case '2025 session':
        return connect(this.sessions!.url, 'legacy', setup);
      case '2025 stdio':
        return connectStdio(STDIO_APP, 'legacy', setup);
      case '2025 stateless':
        return connect(this.stateless!.url, 'legacy', setup, false);
    }
  }

  async close(): Promise<void> {
    await this.sessions?.app.close();
    await this.stateless?.app.close();
  }
}

export type ConnectionName =
  'modern HTTP' | 'modern stdio' | '2025 session' | '2025 stdio' | '2025 stateless';
/** Where a handler runs again for each round. */
export const REPLAYED: readonly ConnectionName[] = ['modern HTTP', 'modern stdio'];
