import { MissingRequiredClientCapabilityError } from '@modelcontextprotocol/server';
import type { McpCall } from './mcp-call.js';

/** Whether the client has declared an extension. */
export const declares = ({ clientCapabilities }: McpCall, id: string): boolean =>
  clientCapabilities?.extensions !== undefined && Object.hasOwn(clientCapabilities.extensions, id);

/** @throws the error -32021 for a client that has not declared the extension */
export function assertDeclares(call: McpCall, id: string): void {
  if (declares(call, id)) return;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [id]: {} } } });
}
