import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { McpToolSearchModule, McpToolsetsModule } from 'nestjs-mcp/toolsets';
import { InvoiceTools } from './invoice.tools.js';
import { OrderTools } from './order.tools.js';

@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpToolsetsModule.forRoot(),
    // A second server with the same tools lists only two of its own, and finds the others.
    McpModule.forRoot({ name: 'search', version: '1.0.0', http: { path: '/search/mcp' } }),
    McpModule.forFeature([InvoiceTools, OrderTools], { server: 'shop' }),
    McpModule.forFeature([InvoiceTools, OrderTools], { server: 'search' }),
    McpToolSearchModule.forRoot({ server: 'search', alwaysVisible: ['find_order'] }),
  ],
  providers: [InvoiceTools, OrderTools],
})
export class AppModule {}
