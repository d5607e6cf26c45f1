import { FLAG, FUNCTION, listOf, objectOf, oneOf, TEXT, TIME } from '../options/option-schema.js';
import type { InterceptorSettings, McpInterceptorOptions } from './interceptor-options.js';
import { CONFIG, OVERRIDES } from './common-options.js';

export const INTERCEPTORS = objectOf<McpInterceptorOptions, InterceptorSettings>({
  apply: { ...FLAG, default: true },
  expose: { ...FLAG, default: false },
  // The engine checks the hosts: a server without hosts does not load their options.
  servers: { ...listOf({}, 'a list of hosts, each with a "name"'), default: [] },
  resolveServers: { ...FUNCTION, description: 'a function of the caller' },
  discovery: {
    ...objectOf<{ ttlMs?: number }>(
      { ttlMs: { type: 'number', minimum: 0, description: 'milliseconds, 0 or more' } },
      { description: '{ ttlMs }' },
    ),
    default: {},
  },
  overrides: { ...OVERRIDES, default: {} },
  policyFile: { ...TEXT, description: 'the path of a file' },
  timeoutMs: { ...TIME, default: 10_000 },
  config: { ...CONFIG, default: {} },
  denial: { ...oneOf('error', 'tool-error'), default: 'error' },
  warnings: { ...FLAG, default: false },
});
