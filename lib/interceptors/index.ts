export {
  SecretRedactor,
  type SecretRedactorInterceptor,
  type SecretRedactorOptions,
} from './library/secret-redactor.js';
export {
  CrossBoundaryGuard,
  type CrossBoundaryGuardInterceptor,
  type CrossBoundaryGuardOptions,
  type SecretFlow,
} from './library/cross-boundary-guard.js';
export { SizeLimit, type SizeLimitInterceptor, type SizeLimitOptions } from './library/size-limit.js';
export {
  RateLimit,
  type RateLimitInterceptor,
  type RateLimitKey,
  type RateLimitOptions,
  type RateLimitStore,
} from './library/rate-limit.js';
export {
  JsonSchemaValidator,
  type JsonSchemaRule,
  type JsonSchemaValidatorInterceptor,
  type JsonSchemaValidatorOptions,
} from './library/json-schema-validator.js';
export { ToolAccess, type ToolAccessInterceptor, type ToolAccessOptions } from './library/tool-access.js';
export type { Principal, PrincipalMatch, ToolRule } from './library/tool-rules.js';
export type { ReadyMadeMutatorOptions, ReadyMadeValidatorOptions } from './library/ready-made.js';
export {
  SecretDetector,
  type FindOptions,
  type SecretDetectorOptions,
  type SecretFinding,
} from './library/secrets/detector.js';
export type { EntropyOptions } from './library/secrets/entropy.js';
export type { SecretKind, SecretPattern } from './library/secrets/patterns.js';
export { mapTexts, ScanLimitError, type ScanLimits, type TextPlace } from './library/secrets/scan.js';
export {
  SecretLedger,
  SecretLedgerFullError,
  type SecretLedgerOptions,
} from './library/secrets/secret-ledger.js';
