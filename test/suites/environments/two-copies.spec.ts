import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule, Tool } from 'nestjs-mcp';
import type * as Library from 'nestjs-mcp';
import { startApp } from '../../fixtures/matrix.js';

let copy: typeof Library;
jest.isolateModules(() => (copy = jest.requireActual('nestjs-mcp')));

const region = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

@Injectable()
class Tools {
  @Tool()
  refuse() {
    throw new copy.McpException(copy.McpErrorCode.Refused, 'The shop is closed');
  }

  @Tool()
  check() {
    throw new copy.InvalidArgumentsException('tool "check"', [{ path: 'limit', message: 'is too large' }]);
  }

  @Tool()
  ask() {
    const question = copy.inputRequest.elicit({ message: 'Where?', schema: region });
    throw new copy.InputRequiredException({ inputRequests: { region: question } });
  }
}

describe('exceptions of another copy of the package', () => {
  it('are recognised', async () => {
    expect(copy.McpModule).not.toBe(McpModule);
    const test = await startApp([Tools]);
    const asked: string[] = [];
    const onElicit = ({ message }: { message: string }) => {
      asked.push(message);
      return { action: 'cancel' as const };
    };
    const client = await test.client({ onElicit });
    await expect(client.callTool({ name: 'refuse' })).rejects.toThrow('The shop is closed');
    expect(await client.callTool({ name: 'check' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('limit: is too large') }],
    });
    await client.callTool({ name: 'ask' }).catch(() => undefined);
    expect(asked).toContain('Where?');
    await test.close();
  });

  it('are told apart by their classes', () => {
    const refused = new copy.McpException(copy.McpErrorCode.Refused, 'no');
    expect(refused instanceof copy.InvalidArgumentsException).toBe(false);
    expect(refused instanceof copy.InputRequiredException).toBe(false);
    class OwnException extends copy.McpException {}
    expect(refused instanceof OwnException).toBe(false);
  });
});

it('one warning names the versions that meet in a process', async () => {
  const versions = (globalThis as never)[Symbol.for('nestjs-mcp:versions')] as Set<string>;
  versions.add('9.0.0');
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  @Module({ imports: [McpModule.forRoot({ name: 'test', version: '1.0.0' })] })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { abortOnError: false });
  const told = warn.mock.calls.map(([message]) => String(message));
  expect(told.filter(message => /nestjs-mcp 0\.1\.0 and 9\.0\.0/.test(message))).toHaveLength(1);
  versions.delete('9.0.0');
  warn.mockRestore();
  await app.close();
});
