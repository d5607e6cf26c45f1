export { McpModule, type McpFeatureOptions } from './mcp.module.js';
export type {
  CacheableMethod,
  LegacyMode,
  McpHttpOptions,
  McpModuleAsyncOptions,
  McpModuleOptions,
  McpOptionsFactory,
  McpSessionOptions,
} from './mcp.module-options.js';
export { Tool } from './decorators/tool.decorator.js';
export { Prompt } from './decorators/prompt.decorator.js';
export { Resource } from './decorators/resource.decorator.js';
export { ResourceTemplate } from './decorators/resource-template.decorator.js';
export { Completion } from './decorators/completion.decorator.js';
export { Args, Ctx, UriParams, type ArgOptions } from './decorators/params.decorator.js';
export type {
  CompletionOptions,
  HandlerKind,
  HandlerOptions,
  PromptOptions,
  ResourceOptions,
  ResourceTemplateOptions,
  ToolOptions,
} from './decorators/handler-options.js';
export { McpContext, type McpLog, type Progress } from './server/mcp-context.js';
export type { Era } from './server/exchange.js';
export { McpExecutionContext } from './execution/mcp-execution-context.js';
export {
  McpServerRegistry,
  type HandlerEnhancers,
  type HandlerKey,
  type RuntimeHandler,
  type RuntimeHandlerOptions,
} from './server/mcp-server-registry.js';
export { McpErrorCode, McpException } from './exceptions/mcp.exception.js';
export { InvalidArgumentsException } from './exceptions/invalid-arguments.exception.js';
export { McpBootstrapError } from './exceptions/mcp-bootstrap.error.js';
export { Description } from './schema/description.decorator.js';
export type { JsonSchema, SchemaIssue, SchemaLike } from './schema/types.js';
export { StderrLogger } from './transports/stdio/stderr.logger.js';
