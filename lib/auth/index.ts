export { McpAuthModule } from './mcp-auth.module.js';
export type { McpAuthOptions } from './auth-options.js';
export { AllowAnonymous, RequireScopes } from './scopes.decorators.js';
export { InvalidTokenError, type TokenVerifier, type VerifierContext } from './token-verifier.js';
export { jwtVerifier, type JwtVerifierOptions } from './jwt-verifier.js';
export { introspectionVerifier, type IntrospectionVerifierOptions } from './introspection-verifier.js';
export { guardVerifier } from './guard-verifier.js';
