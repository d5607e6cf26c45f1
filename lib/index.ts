export { McpModule } from './mcp.module.js';
export type {
  McpFeatureOptions,
  McpModuleAsyncOptions,
  McpModuleOptions,
  McpOptionsFactory,
} from './server/server-options.js';
export { Completion, Prompt, Resource, ResourceTemplate, Tool } from './decorators/handler.decorators.js';
export { ExtensionMethod, McpExtension } from './decorators/extension.decorators.js';
export type { ExtensionMethodOptions, McpExtensionOptions } from './decorators/extension.decorators.js';
export type { ServerExtension, Stages } from './protocol/server-extension.js';
export type { Answer, Stage } from './protocol/answer.js';
export { Visible } from './decorators/visible.decorator.js';
export { Ask } from './decorators/params.decorator.js';
export { Args, Ctx, HeaderParam, UriParams } from './decorators/params.decorator.js';
export type {
  CompletionOptions,
  PromptOptions,
  ResourceOptions,
  ResourceTemplateOptions,
  ToolOptions,
} from './decorators/handler-options.js';
export { McpContext } from './execution/mcp-context.js';
export type { McpLog } from './protocol/mcp-log.js';
export type { Progress } from './protocol/progress.js';
export type { Era } from './protocol/mcp-call.js';
export { McpExecutionContext } from './execution/mcp-execution-context.js';
export { McpServerRegistry, type RuntimeHandler } from './module/mcp-server-registry.js';
export { McpErrorCode, McpException } from './exceptions/mcp.exception.js';
export { InvalidArgumentsException } from './exceptions/invalid-arguments.exception.js';
export { McpBootstrapError } from './exceptions/mcp-bootstrap.error.js';
export { Description } from './schema/keywords.js';
export { McpHeader, mcpHeader } from './schema/keywords.js';
export type { SchemaIssue, SchemaLike } from './schema/types.js';
export { StderrLogger } from './transports/stdio/stderr.logger.js';

export { InputRequiredException } from './elicitation/requests/input-required.exception.js';
export {
  inputRequest,
  TypedInputRequest,
  type ElicitAnswer,
  type SampleAnswer,
} from './elicitation/requests/input-request.js';
export type { Jsonify } from './elicitation/requests/jsonify.js';
export { MemoryMrtrStore, type MrtrStore } from './stores/mrtr-store.js';
export type { EventStore, StoredEvent } from './stores/event-store.js';
export { MemoryEventStore } from './stores/memory-event-store.js';
export { MrtrError, type MrtrErrorCode } from './elicitation/mrtr.error.js';

export { Mutator, Sink, Validator } from './interceptors/decorators/interceptor.decorators.js';
export {
  allow,
  deny,
  respondWith,
  type Denial,
  type InterceptorInvocation,
  type MutatorReturn,
  type ValidatorReturn,
} from './interceptors/authoring.js';
export type { SyntheticResponse } from './interceptors/chain/synthetic-response.js';
export type { CallToolParams, GetPromptParams, ResourceParams } from './interceptors/payloads.js';
export { InterceptorChainRunner } from './module/interceptor-chain-runner.js';
export type { ChainParams } from './interceptors/chain/params.js';
export type { ChainResult, SinkReport } from './interceptors/chain/result.js';
export type { InvocationContext } from './interceptors/protocol/types.js';
export type { ChainReport } from './interceptors/reports.js';
export type { McpInterceptorOptions } from './interceptors/interceptor-options.js';
export { SYNTHETIC_META, WARNINGS_META } from './interceptors/protocol/meta.js';
