import { McpErrorCode } from '../../exceptions/mcp.exception.js';
import { jsonIn } from '../../util/json-in.js';
import { INTERCEPTORS_EXTENSION, type InvokeParams } from '../protocol/types.js';

export interface HostCallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A connection to an interceptor host. Its answers are untrusted and are validated. */
export interface InterceptorInvoker {
  /** `interceptors/list`, one page. */
  list(params: { cursor?: string }, options: HostCallOptions): Promise<unknown>;
  invoke(params: InvokeParams, options: HostCallOptions): Promise<unknown>;
  /** Calls the listener when the host's interceptors change. May return a function that stops it. */
  onChanged?(listener: () => void): (() => void) | void;
}

/** The methods of a host's connected client that this module uses. The SDK's `Client` has them. */
export interface InterceptorClient {
  request(
    request: { method: string; params?: Record<string, unknown> },
    resultSchema: typeof ANYTHING,
    options?: { signal?: AbortSignal; timeout?: number },
  ): Promise<unknown>;
  getServerCapabilities?(): object | undefined;
  /** Registers a notification handler. Without this method, only the lifetime of a listing limits its use. */
  setNotificationHandler?(
    method: string,
    schemas: { params: typeof ANYTHING },
    handler: (params: unknown) => void,
  ): void;
}

export type UseClient = <T>(
  work: (client: InterceptorClient) => Promise<T>,
  signal: AbortSignal,
) => Promise<T>;

const CHANGED = 'notifications/interceptors/list_changed';

/** The SDK requires a timeout. This reserve lets the chain's own deadline expire first. */
const GRACE_MS = 1000;

const ANYTHING = {
  '~standard': {
    version: 1,
    vendor: 'nestjs-mcp',
    validate: (value: unknown) => ({ value }),
  },
} as const;

export function clientInvoker(use: UseClient): InterceptorInvoker {
  const ask = (
    client: InterceptorClient,
    method: string,
    params: object,
    { signal, timeoutMs }: HostCallOptions,
  ) => client.request({ method, params: { ...params } }, ANYTHING, { signal, timeout: timeoutMs + GRACE_MS });
  return {
    list: (params, options) =>
      use(
        client =>
          ask(client, 'interceptors/list', params, options).catch((error: unknown) => {
            if (hasNone(client, error)) return { interceptors: [] };
            throw error;
          }),
        options.signal,
      ),
    invoke: (params, options) =>
      use(client => ask(client, 'interceptor/invoke', params, options), options.signal),
  };
}

/**
 * A host without interceptors must have declared the extension. Otherwise, a wrong server would let all messages pass.
 */
function hasNone(client: InterceptorClient, error: unknown): boolean {
  if (jsonRpcCodeOf(error) !== McpErrorCode.MethodNotFound) return false;
  const { extensions, interceptor } = (client.getServerCapabilities?.() ?? {}) as {
    extensions?: Record<string, unknown>;
    interceptor?: unknown;
  };
  const declared = extensions?.[INTERCEPTORS_EXTENSION] ?? interceptor;
  const { supportedEvents } = (declared ?? {}) as { supportedEvents?: unknown };
  return Array.isArray(supportedEvents) && supportedEvents.length === 0;
}

/** The code of a JSON-RPC error. With HTTP 404, which 2026-07-28 uses, the SDK leaves the error in the text. */
function jsonRpcCodeOf(error: unknown): unknown {
  const { code, data } = error as { code?: unknown; data?: { status?: unknown; text?: unknown } };
  if (data?.status !== 404 || typeof data.text !== 'string') return code;
  const body = jsonIn(data.text) as { jsonrpc?: unknown; error?: { code?: unknown } } | null | undefined;
  return body?.jsonrpc === '2.0' ? body.error?.code : undefined;
}

/** The listeners of a client. Several servers may share a client, but the SDK allows one handler per notification. */
const listenersOf = new WeakMap<InterceptorClient, Set<() => void>>();

/**
 * Returns a function that stops watching. It replaces the application's handler, because the SDK does not expose it.
 */
export function watchChanges(client: InterceptorClient, listener: () => void): () => void {
  const listeners = listenersOf.get(client) ?? new Set();
  if (listeners.size === 0) {
    listenersOf.set(client, listeners);
    client.setNotificationHandler?.(CHANGED, { params: ANYTHING }, () => {
      for (const tell of [...listeners]) tell();
    });
  }
  // A wrapper, so that the same listener can be added twice.
  const own = () => listener();
  listeners.add(own);
  return () => void listeners.delete(own);
}
