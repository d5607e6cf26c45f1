import { hash } from 'node:crypto';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import { isInvalidToken } from './token-verifier.js';

/** How long a refused token is remembered, in milliseconds. */
const REFUSED_MS = 5000;

/**
 * Verdicts about tokens by SHA-256, bounded by number and time. Requests at the same time share one verification, unless the
 * cache is off.
 */
export class TokenCache {
  private readonly verified: LRUCache<string, AuthInfo>;
  /** Separate, so that refused tokens do not push out verified tokens. */
  private readonly refused: LRUCache<string, Error>;
  private readonly pending = new Map<string, Promise<AuthInfo>>();

  /**
   * @param maxAgeMs how long a token is kept, in milliseconds, at most until it expires; 0 turns the cache off
   * @param max the most tokens
   */
  constructor(
    private readonly maxAgeMs: number,
    max: number,
  ) {
    this.verified = new LRUCache({ max });
    this.refused = new LRUCache({ max });
  }

  /** The key in the other methods. @param parts all that a verdict depends on, the token first */
  keyOf(...parts: readonly string[]): string {
    return hash('sha256', parts.join('\n'), 'base64');
  }

  get(key: string): AuthInfo | undefined {
    return this.verified.get(key);
  }

  /** Why a token was refused some seconds ago. */
  refusal(key: string): Error | undefined {
    return this.refused.get(key);
  }

  /** @throws the error of `verify`, which is kept only for an invalid token */
  verify(key: string, verify: () => Promise<AuthInfo>): Promise<AuthInfo> {
    if (this.maxAgeMs === 0) return verify();
    const verifying = this.pending.get(key) ?? this.keep(key, verify);
    this.pending.set(key, verifying);
    return verifying;
  }

  private async keep(key: string, verify: () => Promise<AuthInfo>): Promise<AuthInfo> {
    try {
      const caller = await verify();
      const ttl = Math.min(this.maxAgeMs, caller.expiresAt! * 1000 - Date.now());
      if (ttl > 0) this.verified.set(key, caller, { ttl });
      return caller;
    } catch (error) {
      const ttl = Math.min(this.maxAgeMs, REFUSED_MS);
      if (isInvalidToken(error)) this.refused.set(key, error, { ttl });
      throw error;
    } finally {
      this.pending.delete(key);
    }
  }
}
