export { McpModule } from './mcp.module.js';
export type {
  CacheableMethod,
  LegacyMode,
  McpFeatureOptions,
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
export { Ask, type AskOptions } from './decorators/ask.decorator.js';
export { Args, Ctx, HeaderParam, UriParams, type ArgOptions } from './decorators/params.decorator.js';
export type {
  CompletionOptions,
  HandlerKind,
  HandlerOptions,
  PromptOptions,
  ResourceOptions,
  ResourceTemplateOptions,
  ToolOptions,
} from './decorators/handler-options.js';
export { McpContext } from './server/mcp-context.js';
export type { McpLog } from './server/mcp-log.js';
export type { Progress } from './server/progress.js';
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
export { McpHeader, mcpHeader } from './schema/mcp-header.js';
export type { JsonSchema, SchemaIssue, SchemaLike } from './schema/types.js';
export { StderrLogger } from './transports/stdio/stderr.logger.js';

export { InputRequiredException, type InputRequiredOptions } from './mrtr/input-required.exception.js';
export {
  inputRequest,
  InputQuestion,
  type ElicitAnswer,
  type ElicitOptions,
  type ElicitUrlOptions,
  type InferSchema,
  type SampleAnswer,
} from './mrtr/input-request.js';
export type { Jsonify } from './mrtr/jsonify.js';
export type { McpMrtrOptions, McpSuspensionOptions, OnMismatch } from './mrtr/mrtr-options.js';
export { MemoryMrtrStore, type MrtrStore } from './mrtr/mrtr-store.js';
export { MrtrError, type MrtrErrorCode } from './mrtr/mrtr.error.js';

export { Validator } from './decorators/validator.decorator.js';
export { Mutator } from './decorators/mutator.decorator.js';
export { Sink } from './decorators/sink.decorator.js';
export type { MutatorOptions, SinkOptions, ValidatorOptions } from './decorators/interceptor-options.js';
export {
  allow,
  deny,
  respondWith,
  type Denial,
  type DenyOptions,
  type InterceptorInvocation,
  type MutatorReturn,
  type ValidatorReturn,
} from './interceptors/authoring.js';
export type { SyntheticResponse } from './interceptors/chain/synthetic.js';
export type { WhenPredicate, WhenRule } from './interceptors/chain/when.js';
export type {
  CallToolParams,
  GetPromptParams,
  InterceptionEvent,
  InterceptionPayloads,
  ListParams,
  PayloadOf,
  ResourceListing,
  ResourceParams,
} from './interceptors/payloads.js';
export { InterceptorChainRunner, type RunOptions } from './interceptors/interceptor-chain-runner.js';
export {
  InterceptorChain,
  type DiscoverOptions,
  type InterceptorChainEntry,
} from './interceptors/interceptor-chain.js';
export { DiscoveryError } from './interceptors/hosts/remote-host.js';
export type {
  HostPolicy,
  HostSendOptions,
  InterceptorHost,
  InterceptorServerOptions,
  ReachableHost,
} from './interceptors/hosts/host-options.js';
export type { HostCallOptions, InterceptorClient, InterceptorInvoker } from './interceptors/hosts/invoker.js';
export type { ChainCaller, ChainInUse, ChainSource } from './interceptors/chain-source.js';
export type { ConnectionOptions } from './client/connection-options.js';
export type { ChainParams } from './interceptors/chain/params.js';
export type {
  Direction,
  InterceptorDescriptor,
  InvocationContext,
  InvokeParams,
  Phase,
} from './interceptors/protocol/types.js';
export type { InterceptorOverride, McpInterceptorOptions } from './interceptors/interceptor-options.js';
export type { ChainReport, InterceptorCounters } from './interceptors/reports.js';
export type {
  ChainResult,
  ChainStatus,
  EntryResult,
  Outcome,
  SkippedEntry,
} from './interceptors/chain/result.js';
export { SYNTHETIC_META, WARNINGS_META } from './interceptors/boundary/answers.js';
