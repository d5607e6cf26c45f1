import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';

/** The Fastify instance, or another instance with Fastify's hooks; undefined if the adapter's instance has no hooks. */
export function hooksOf(adapter: AbstractHttpAdapter): FastifyInstance | undefined {
  const instance = adapter.getInstance<Partial<FastifyInstance> | undefined>();
  return typeof instance?.addHook === 'function' ? (instance as FastifyInstance) : undefined;
}

/** Whether the endpoint can see requests before the router, by a hook or by Connect-style middleware. */
export function canBeServed(adapter: AbstractHttpAdapter): boolean {
  const instance = adapter.getInstance<{ use?: unknown } | undefined>();
  return hooksOf(adapter) !== undefined || typeof instance?.use === 'function';
}

export interface PlatformRequest extends IncomingMessage {
  readonly raw?: IncomingMessage;
  /** The address of the client. The platform decides which proxies it trusts for it. */
  readonly ip?: string;
  readonly auth?: AuthInfo;
  readonly body?: unknown;
}

export interface PlatformResponse extends ServerResponse {
  readonly raw?: ServerResponse;
  hijack?(): void;
  getHeaders(): Record<string, string | string[] | number>;
}
