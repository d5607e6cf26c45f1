export {
  SecretRedactor,
  type SecretRedactorInterceptor,
  type SecretRedactorOptions,
} from './library/secret-redactor.js';
export {
  CrossBoundaryGuard,
  type CrossBoundaryGuardInterceptor,
  type CrossBoundaryGuardOptions,
} from './library/cross-boundary-guard.js';
export { SizeLimit, type SizeLimitInterceptor, type SizeLimitOptions } from './library/size-limit.js';
export {
  RateLimit,
  type RateLimitInterceptor,
  type RateLimitOptions,
  type RateLimitStore,
} from './library/rate-limit.js';
export {
  JsonSchemaValidator,
  type JsonSchemaValidatorInterceptor,
  type JsonSchemaValidatorOptions,
} from './library/json-schema-validator.js';
export { ToolAccess, type ToolAccessInterceptor, type ToolAccessOptions } from './library/tool-access.js';
export {
  SecretDetector,
  type SecretDetectorOptions,
  type SecretFinding,
} from './library/secrets/detector.js';
export type { SecretPattern } from './library/secrets/patterns.js';
export { mapTexts } from './library/secrets/scan.js';
export { SecretLedger, type SecretLedgerOptions } from './library/secrets/secret-ledger.js';

export type { MutatorOptions, SinkOptions, ValidatorOptions } from './decorators/interceptor.decorators.js';
export type { InterceptionEvent, ListParams, PayloadOf, ResourceListing } from './payloads.js';
export type { WhenPredicate, WhenRule } from './chain/when.js';
export type { EntryReport, EntryResult } from './chain/result.js';
export type { RunOptions } from './chain-source.js';
export { InterceptorChain, type DiscoverOptions, type InterceptorChainEntry } from './interceptor-chain.js';
export { DiscoveryError } from './remote/remote-host.js';
export type { HostPolicy, InterceptorHost, InterceptorServerOptions } from './remote/host-options.js';
export type { InterceptorClient, InterceptorInvoker } from './remote/invoker.js';
export type { InterceptorDescriptor, InvokeParams } from './protocol/types.js';
