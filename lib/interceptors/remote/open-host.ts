import { Connection } from '../../connection/connection.js';
import type { ConnectionOptions } from '../../connection/connection-options.js';
import { loadSdkClient } from '../../connection/sdk-client.js';
import type { InterceptorHost, InterceptorServerOptions } from './host-options.js';
import { clientInvoker, watchChanges, type InterceptorInvoker } from './invoker.js';
import { RemoteHost, type OpenHostOptions } from './remote-host.js';

export function remoteHost(options: InterceptorHost, defaults: OpenHostOptions): RemoteHost {
  return new RemoteHost(options, invokerOf(options), defaults);
}

/** Opens a host from the application's options. With connection settings, it connects at the first message. */
export async function openHost(
  options: InterceptorServerOptions,
  defaults: OpenHostOptions,
): Promise<RemoteHost> {
  if ('client' in options || 'invoker' in options) return remoteHost(options, defaults);
  await loadSdkClient(`The interceptor server "${options.name}"`);
  const { context } = options.send ?? {};
  const isUntraced = context !== undefined && !context.includes('trace');
  const connection: Connection = new Connection(options.name, options satisfies ConnectionOptions, {
    onClient: client => watchChanges(client, () => host.forget()),
    observer: url => defaults.traffic?.at({ side: 'client', name: options.name, url, isUntraced }),
    // Another process may answer now, with other interceptors.
    onOpen: () => host.reconnected(),
  });
  const invoker = clientInvoker((work, signal) => connection.use(work, signal));
  const host = new RemoteHost(options, invoker, defaults, () => connection.close());
  return host;
}

function invokerOf(host: InterceptorHost): InterceptorInvoker {
  if ('invoker' in host) return host.invoker;
  const { client } = host;
  return {
    ...clientInvoker(work => work(client)),
    onChanged: listener => watchChanges(client, listener),
  };
}
