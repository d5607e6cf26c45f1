import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { CatalogTools } from './catalog.tools.js';

@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
  providers: [CatalogTools],
})
export class AppModule {}
