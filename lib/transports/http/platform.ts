import type { AbstractHttpAdapter } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';

/** Fastify, or whatever hooks into requests the way it does; undefined if the adapter's instance has no hooks. */
export function hooksOf(adapter: AbstractHttpAdapter): FastifyInstance | undefined {
  const instance = adapter.getInstance<Partial<FastifyInstance> | undefined>();
  return typeof instance?.addHook === 'function' ? (instance as FastifyInstance) : undefined;
}

/** Whether the endpoint can look at requests before the router: by a hook, or by a middleware as Connect has them. */
export function canBeServed(adapter: AbstractHttpAdapter): boolean {
  const instance = adapter.getInstance<{ use?: unknown } | undefined>();
  return hooksOf(adapter) !== undefined || typeof instance?.use === 'function';
}
