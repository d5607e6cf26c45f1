import type { ConnectionOptions } from '../../connection/connection-options.js';
import type { HostPolicy, InterceptorHost, InterceptorServerOptions } from './host-options.js';
import { clientInvoker, watchChanges, type InterceptorInvoker } from './invoker.js';
import { RemoteHost } from './remote-host.js';

const DEFAULT_TTL_MS = 60_000;

export interface OpenedHost {
  readonly host: RemoteHost;
  close(): Promise<void>;
}

export interface OpenHostOptions {
  /** Unique among all hosts that are ever asked. Default: the host's name. */
  readonly id?: string;
  readonly ttlMs?: number;
  readonly warn: (message: string) => void;
}

export function remoteHost(options: InterceptorHost, defaults: OpenHostOptions): RemoteHost {
  return hostOver(options, invokerOf(options), defaults);
}

/** A host from whatever the application gave: connection settings are opened at the first message. */
export async function openHost(
  options: InterceptorServerOptions,
  defaults: OpenHostOptions,
): Promise<OpenedHost> {
  if ('client' in options || 'invoker' in options) {
    const host = remoteHost(options, defaults);
    return { host, close: async () => host.close() };
  }
  // Only now: the SDK's client is an optional package.
  const { Connection } = await import('../../connection/connection.js');
  let onChanged = (): void => undefined;
  let onOpen = (): void => undefined;
  const connection = new Connection(options.name, options satisfies ConnectionOptions, {
    onClient: client => watchChanges(client, () => onChanged()),
    // Another process may answer now, with other interceptors.
    onOpen: () => onOpen(),
  });
  const invoker = clientInvoker((work, signal) => connection.use(work, signal));
  const listening = { ...invoker, onChanged: (listener: () => void) => void (onChanged = listener) };
  const host = hostOver(options, listening, defaults);
  onOpen = () => host.reconnected();
  return {
    host,
    close: async () => {
      host.close();
      await connection.close();
    },
  };
}

const hostOver = (
  options: HostPolicy & { readonly name: string },
  invoker: InterceptorInvoker,
  { id, ttlMs = DEFAULT_TTL_MS, warn }: OpenHostOptions,
): RemoteHost =>
  new RemoteHost({ name: options.name, id, invoker, policy: options, ttlMs: options.ttlMs ?? ttlMs, warn });

function invokerOf(host: InterceptorHost): InterceptorInvoker {
  if ('invoker' in host) return host.invoker;
  const { client } = host;
  return {
    ...clientInvoker(work => work(client)),
    onChanged: listener => watchChanges(client, listener),
  };
}
