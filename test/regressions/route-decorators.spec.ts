import { UseGuards } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { McpModule } from 'nestjs-mcp';

describe('forRootAsync', () => {
  it('refuses route decorators that its factory returns, for they would not run', async () => {
    const denying = { canActivate: () => false };
    const starting = Test.createTestingModule({
      imports: [
        McpModule.forRootAsync({
          useFactory: () => ({ name: 'test', version: '1', http: { decorators: [UseGuards(denying)] } }),
        }),
      ],
    }).compile();
    await expect(starting).rejects.toThrow(
      /"http\.decorators" .*pass them to forRootAsync beside its factory/,
    );
  });
});
