import { type InjectionToken, Inject } from '@nestjs/common';

/**
 * The token of an `McpClient`, for `useFactory` providers and `app.get()`; `@InjectMcpClient` elsewhere.
 * @example
 * ```ts
 * const billing = app.get<McpClient>(getMcpClientToken('billing'));
 * ```
 */
export const getMcpClientToken = (name: string): InjectionToken => `nestjs-mcp:client:${name}`;

/**
 * Injects the `McpClient` of that name. The start fails if no `register` or `registerAsync` provides it.
 * @example
 * ```ts
 * constructor(@InjectMcpClient('billing') private readonly billing: McpClient) {}
 * ```
 */
export const InjectMcpClient = (name: string): ParameterDecorator & PropertyDecorator =>
  Inject(getMcpClientToken(name));
