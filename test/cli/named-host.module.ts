import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';

/** A server that answers to another name than the one under which the command calls it. */
@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0', http: { allowedHosts: ['localhost'] } })],
})
export class NamedHostModule {}
