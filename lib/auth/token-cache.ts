import { hash } from 'node:crypto';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import { isInvalidToken } from './token-verifier.js';

/** How long a refused token is remembered, in milliseconds. */
const REFUSED_MS = 5000;

/** Verified tokens by their SHA-256, bounded by number and time. Requests at the same time share one verification. */
export class TokenCache {
  private readonly verified: LRUCache<string, AuthInfo>;
  /** Separate, so that refused tokens do not push out verified tokens. */
  private readonly refused: LRUCache<string, Error>;
  private readonly pending = new Map<string, Promise<AuthInfo>>();

  /**
   * @param maxAgeMs how long a token is kept, in milliseconds, at most until it expires
   * @param max the most tokens
   */
  constructor(
    private readonly maxAgeMs: number,
    max: number,
  ) {
    this.verified = new LRUCache({ max });
    this.refused = new LRUCache({ max });
  }

  /** The key of a token in the other methods. */
  keyOf(token: string): string {
    return hash('sha256', token, 'base64');
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
      if (ttl > 0 && isInvalidToken(error)) this.refused.set(key, error, { ttl });
      throw error;
    } finally {
      this.pending.delete(key);
    }
  }
}
