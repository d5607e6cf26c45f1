export { McpGatewayModule } from './mcp-gateway.module.js';
export type {
  GatewayBackend,
  GatewayLimits,
  GatewayMrtrOptions,
  McpGatewayOptions,
} from './gateway-options.js';
export type { ConnectionOptions } from '../client/connection-options.js';
export { HOPS_META } from './loop-detection.js';
