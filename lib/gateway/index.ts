export { McpGatewayModule } from './mcp-gateway.module.js';
export type { GatewayBackend, McpGatewayOptions } from './gateway-options.js';
