import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Args, McpModule, Tool } from 'nestjs-mcp';
import { checkOutput } from './support.js';

// #region mistake
interface Query {
  readonly text: string;
}

@Injectable()
class CatalogTools {
  @Tool()
  search(@Args() { text }: Query) {
    return text;
  }
}
// #endregion mistake

@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
  providers: [CatalogTools],
})
class AppModule {}

// #region start
it('stops the start, and names the method and the remedy', async () => {
  const testing = Test.createTestingModule({ imports: [AppModule] });
  const app = (await testing.compile()).createNestApplication();
  await expect(app.init()).rejects.toThrow(
    'CatalogTools.search: its arguments have no schema',
  );
});
// #endregion start

it('the message is that of the page', async () => {
  const testing = Test.createTestingModule({ imports: [AppModule] });
  const app = (await testing.compile()).createNestApplication();
  checkOutput('mistake.txt', String(await app.init().catch(error => error)));
});
