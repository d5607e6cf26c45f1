import type { ExtendedServer, ServerExtension } from '../protocol/server-extension.js';
import { Boundary } from './boundary/boundary.js';
import type { InterceptorSettings } from './interceptor-options.js';
import type { MergedChain } from './merged-chain.js';
import { INTERCEPTORS_EXTENSION } from './protocol/types.js';
import type { InterceptorReports } from './reports.js';
import { InterceptorServer } from './served/interceptor-server.js';

/** Notifies callers of this server's interceptors that they must list the interceptors again. */
const INTERCEPTORS_CHANGED = 'notifications/interceptors/list_changed';

interface InterceptorExtensionOptions {
  readonly server: string;
  readonly chain: MergedChain;
  readonly settings: InterceptorSettings;
  readonly reports: InterceptorReports;
  readonly pageSize: number;
  readonly ttlMs?: number;
  readonly log: (message: string) => void;
}

/** Puts a chain around the traffic of a server, and exposes the application's interceptors if the options say so. */
export function interceptorExtension(options: InterceptorExtensionOptions): ServerExtension {
  const { chain, settings, pageSize, ttlMs, log } = options;
  const isEmpty = chain.local.length + settings.servers.length === 0 && !settings.resolveServers;
  return {
    ...(settings.apply && !isEmpty && around(options)),
    ...(settings.expose && exposed(new InterceptorServer(chain, { pageSize, ttlMs, log }), chain)),
  };
}

function around({ chain, ...options }: InterceptorExtensionOptions): ServerExtension {
  let boundary: Boundary;
  return {
    checksHeaders: true,
    attach({ handlers, headers, ownMethods }: ExtendedServer) {
      const unsubscribe = handlers.answer('resources/unsubscribe');
      boundary = new Boundary({
        ...options,
        source: chain,
        listings: handlers,
        headers,
        unsubscribe,
        ownMethods,
      });
    },
    stages: method => ({ intercept: boundary.intercept(method) }),
    ask: (...asked) => boundary.ask(...asked),
    notifier: (...asked) => boundary.notifier(...asked),
  };
}

function exposed(served: InterceptorServer, chain: MergedChain) {
  const count = chain.local.length;
  const listeners = new Set<(method: string) => void>();
  chain.onChange(() => {
    for (const notify of listeners) notify(INTERCEPTORS_CHANGED);
  });
  return {
    id: INTERCEPTORS_EXTENSION,
    ...(count > 0 && { offered: `${count} interceptor${count === 1 ? '' : 's'}` }),
    settings: () => ({ ...served.capability }),
    methods: served.methods,
    onNotification(listener: (method: string) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
