import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { textOf } from '../../fixtures/matrix.js';

const fixtures = join(__dirname, '../../fixtures');
const argsOf = (parts: string[]) => [
  '-r',
  join(fixtures, 'ts-hook.cjs'),
  join(fixtures, 'routes-stdio-app.ts'),
  ...parts,
];

describe('routes over stdio', () => {
  it.each([
    ['a guard', ['GuardedController'], 'which the guard OwnerGuard may need'],
    ['a custom decorator', ['CustomController'], 'which the custom decorator of parameter 1 may need'],
    ['middleware', ['PlainController', 'middleware'], 'which its middleware may need'],
    [
      'a global interceptor',
      ['PlainController', 'global'],
      'which the Nest interceptor ClassSerializerInterceptor may need',
    ],
  ])('stop the start with %s', async (_, parts, reason) => {
    const run = promisify(execFile)(process.execPath, argsOf(parts));
    await expect(run).rejects.toMatchObject({
      stderr: expect.stringContaining(
        `calls over stdio have no HTTP request, ${reason}; add { stdio: true } to @Tool()`,
      ) as string,
    });
  });

  it('are served without such parts, and with the word of the author', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const args = argsOf(['PlainController', 'AllowedController']);
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
    try {
      const plain = await client.callTool({ name: 'plain', arguments: { id: 7 } });
      const allowed = await client.callTool({ name: 'allowed', arguments: {} });
      expect([textOf(plain), textOf(allowed)]).toEqual(['plain 7', 'allowed']);
    } finally {
      await client.close();
    }
  });
});
