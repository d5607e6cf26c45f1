import { jwtVerifier } from 'nestjs-mcp/auth';
import { settings } from '../settings.js';

/** Verifies the tokens of callers, by REST and by MCP. */
export const verifier = jwtVerifier({ issuer: settings.issuer, jwksUri: settings.jwksUri });
