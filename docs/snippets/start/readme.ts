import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
// #region code
import { Args, McpModule, Tool } from 'nestjs-mcp';

@Injectable()
class CatalogTools {
  @Tool({ description: 'Search the product catalogue' })
  search(@Args('query') query: string) {
    return ['desk lamp', 'chair'].filter(name => name.includes(query));
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
  providers: [CatalogTools],
})
class AppModule {}
// #endregion code

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(3000); // http://localhost:3000/mcp
}
void bootstrap();
