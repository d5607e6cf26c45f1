import { Injectable, Module } from '@nestjs/common';
import type { ElicitRequest } from '@modelcontextprotocol/client';
// #region imports
import {
  InjectMcpClient,
  McpClient,
  McpClientModule,
  OnElicitation,
} from 'nestjs-mcp/client';
// #endregion imports
// #region gateway-imports
import { McpGatewayModule } from 'nestjs-mcp/gateway';
// #endregion gateway-imports
import { Guardrails } from './interceptors.js';

// #region client
@Injectable()
export class Invoices {
  constructor(
    @InjectMcpClient('billing') private readonly billing: McpClient,
  ) {}

  pay(id: string) {
    return this.billing.callTool({ name: 'pay', arguments: { id } });
  }

  // An elicitation of the server; also @OnSampling and @OnRoots.
  @OnElicitation('billing')
  confirm(params: ElicitRequest['params']) {
    return { action: 'accept', content: { ok: params.message !== '' } };
  }
}

@Module({
  imports: [
    McpClientModule.register([
      {
        name: 'billing',
        url: 'https://billing.internal/mcp',
        headers: { authorization: `Bearer ${process.env.BILLING_TOKEN}` },
      },
      {
        name: 'files',
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', '/data'],
      },
    ]),
  ],
  providers: [Invoices],
})
export class AppModule {}
// #endregion client

// #region gateway
@Module({
  imports: [
    McpGatewayModule.forRoot({
      path: '/mcp',
      backend: { command: 'npx', args: ['-y', 'some-mcp-server'] },
    }),
  ],
  providers: [Guardrails],
})
export class GatewayModule {}
// #endregion gateway

export const backends =
  // #region backends
  McpGatewayModule.forRoot({
    backends: {
      files: { url: 'https://files.internal/mcp' },
      git: { url: 'https://git.internal/mcp' },
    },
  });
// #endregion backends
