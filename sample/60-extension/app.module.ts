import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { Products } from './products.js';
import { SearchExtension } from './search.extension.js';
import { TenantQuota } from './tenant-quota.js';

@Module({
  imports: [McpModule.forRoot({ name: 'products', version: '1.0.0' })],
  providers: [Products, SearchExtension, TenantQuota],
})
export class AppModule {}
