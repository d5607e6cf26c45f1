import { INTERCEPTORS_EXTENSION, type InvokeParams } from '../protocol/types.js';

export interface HostCallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** How an interceptor host is reached. What it answers is read with care: it need not be what it should. */
export interface InterceptorInvoker {
  /** `interceptors/list`, one page. */
  list(params: { cursor?: string }, options: HostCallOptions): Promise<unknown>;
  invoke(params: InvokeParams, options: HostCallOptions): Promise<unknown>;
  /** Calls back when the host's interceptors change. Returns a function that ends that, if possible. */
  onChanged?(listener: () => void): (() => void) | void;
}

/** A connected client of a host, as far as it is used here: the SDK's `Client` is one. */
export interface InterceptorClient {
  request(
    request: { method: string; params?: Record<string, unknown> },
    resultSchema: typeof ANYTHING,
    options?: { signal?: AbortSignal; timeout?: number },
  ): Promise<unknown>;
  getServerCapabilities?(): object | undefined;
  /** Is told of notifications. Without it, only the time to live says when a listing is over. */
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

const METHOD_NOT_FOUND = -32601;

/** The chain gives up first; the SDK requires a timeout. */
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

/** A host without interceptors must have declared that it is a host, or any wrong server would let all pass. */
function hasNone(client: InterceptorClient, error: unknown): boolean {
  if (jsonRpcCodeOf(error) !== METHOD_NOT_FOUND) return false;
  const { extensions, interceptor } = (client.getServerCapabilities?.() ?? {}) as {
    extensions?: Record<string, unknown>;
    interceptor?: unknown;
  };
  const declared = extensions?.[INTERCEPTORS_EXTENSION] ?? interceptor;
  const { supportedEvents } = (declared ?? {}) as { supportedEvents?: unknown };
  return Array.isArray(supportedEvents) && supportedEvents.length === 0;
}

/** The code of a JSON-RPC error. The SDK leaves it in the text where it came with HTTP 404, as it does on 2026-07-28. */
function jsonRpcCodeOf(error: unknown): unknown {
  const { code, data } = error as { code?: unknown; data?: { status?: unknown; text?: unknown } };
  if (data?.status !== 404 || typeof data.text !== 'string') return code;
  try {
    const body = JSON.parse(data.text) as { jsonrpc?: unknown; error?: { code?: unknown } } | null;
    return body?.jsonrpc === '2.0' ? body.error?.code : undefined;
  } catch {
    return undefined;
  }
}

/** Who is told by a client: several servers can share one, and the SDK knows one handler for each notification. */
const listenersOf = new WeakMap<InterceptorClient, Set<() => void>>();

/** Returns a function that ends the watch. Replaces the handler of the application: the SDK reports none. */
export function watchChanges(client: InterceptorClient, listener: () => void): () => void {
  const listeners = listenersOf.get(client) ?? new Set();
  if (listeners.size === 0) {
    listenersOf.set(client, listeners);
    client.setNotificationHandler?.(CHANGED, { params: ANYTHING }, () => {
      for (const tell of [...listeners]) tell();
    });
  }
  // Not the listener itself, which could be there twice.
  const own = () => listener();
  listeners.add(own);
  return () => void listeners.delete(own);
}
