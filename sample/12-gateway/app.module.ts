import { Module } from '@nestjs/common';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { Guardrails } from './guardrails.js';

/** The reference server, which knows nothing of this application and speaks over its stdin and stdout. */
const everything = {
  command: process.execPath,
  args: [require.resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
};

@Module({
  imports: [McpGatewayModule.forRoot({ backend: everything })],
  providers: [Guardrails],
})
export class AppModule {}
