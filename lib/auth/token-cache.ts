import { hash } from 'node:crypto';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';

/** Verified tokens by their SHA-256, bounded by number and time. Requests at the same time share one verification. */
export class TokenCache {
  private readonly verified: LRUCache<string, AuthInfo>;
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
  }

  /** @throws the error of `verify`, which is not kept */
  get(token: string, verify: () => Promise<AuthInfo>): AuthInfo | Promise<AuthInfo> {
    const key = hash('sha256', token, 'base64');
    const known = this.verified.get(key);
    if (known) return known;
    const verifying = this.pending.get(key) ?? this.verify(key, verify);
    this.pending.set(key, verifying);
    return verifying;
  }

  private async verify(key: string, verify: () => Promise<AuthInfo>): Promise<AuthInfo> {
    try {
      const caller = await verify();
      const ttl = Math.min(this.maxAgeMs, caller.expiresAt! * 1000 - Date.now());
      if (ttl > 0) this.verified.set(key, caller, { ttl });
      return caller;
    } finally {
      this.pending.delete(key);
    }
  }
}
