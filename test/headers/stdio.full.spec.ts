import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { textOf } from '../fixtures/matrix.js';

describe('over stdio', () => {
  it('there are no headers, and the value is that of the argument', async () => {
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: ['--require', require.resolve('../fixtures/ts-hook.cjs'), require.resolve('./stdio-app.ts')],
        stderr: 'ignore',
      }),
    );
    try {
      const result = await client.callTool({
        name: 'mirror',
        arguments: { text: 'a', place: { region: 'eu' } },
      });
      expect(JSON.parse(textOf(result))).toEqual({ text: 'a', region: 'eu', again: 'a', era: 'modern' });
    } finally {
      await client.close();
    }
  });
});
