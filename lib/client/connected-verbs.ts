import { setMaxListeners } from 'node:events';
import { SdkError, SdkErrorCode, type Client, type RequestOptions } from '@modelcontextprotocol/client';
import type { ClientVerbs } from './client-verbs.js';
import { assertWanted } from './client-boundary.js';
import type { Connection } from '../connection/connection.js';

/** The verbs of whatever client a connection has: the first use opens it. */
export class ConnectedVerbs implements ClientVerbs {
  /** @param connection may throw where there is none yet */
  constructor(private readonly connection: () => Connection) {}

  readonly callTool: ClientVerbs['callTool'] = (params, options) =>
    this.use(options, client => client.callTool(params, options));
  readonly listTools: ClientVerbs['listTools'] = (params, options) =>
    this.use(options, client => client.listTools(params, options));
  readonly getPrompt: ClientVerbs['getPrompt'] = (params, options) =>
    this.use(options, client => client.getPrompt(params, options));
  readonly listPrompts: ClientVerbs['listPrompts'] = (params, options) =>
    this.use(options, client => client.listPrompts(params, options));
  readonly readResource: ClientVerbs['readResource'] = (params, options) =>
    this.use(options, client => client.readResource(params, options));
  readonly listResources: ClientVerbs['listResources'] = (params, options) =>
    this.use(options, client => client.listResources(params, options));
  readonly listResourceTemplates: ClientVerbs['listResourceTemplates'] = (params, options) =>
    this.use(options, client => client.listResourceTemplates(params, options));
  readonly complete: ClientVerbs['complete'] = (params, options) =>
    this.use(options, client => client.complete(params, options));
  readonly subscribeResource: ClientVerbs['subscribeResource'] = (params, options) =>
    this.use(options, client => client.subscribeResource(params, options));
  readonly unsubscribeResource: ClientVerbs['unsubscribeResource'] = (params, options) =>
    this.use(options, client => client.unsubscribeResource(params, options));
  readonly listen: ClientVerbs['listen'] = (filter, options) =>
    this.use(options, client => client.listen(filter, options));
  readonly ping: ClientVerbs['ping'] = options => this.use(options, client => client.ping(options));
  readonly setLoggingLevel: ClientVerbs['setLoggingLevel'] = (level, options) =>
    this.use(options, client => client.setLoggingLevel(level, options));
  readonly request = ((request: { method: 'ping' }, ...rest: (object | undefined)[]) =>
    this.use(rest.at(-1), client => client.request(request, ...(rest as [])))) as ClientVerbs['request'];

  /**
   * Uses the client, once there is one.
   * @param options of the caller, whose `timeout` also bounds the wait for the connection
   * @throws ConnectionError where there is none, SdkError where the caller gave up
   */
  async use<T>(options: RequestOptions = {}, work: (client: Client) => Promise<T> | T): Promise<T> {
    // As in `InterceptedVerbs`, which not all verbs pass.
    if (options.signal) setMaxListeners(0, options.signal);
    const connection = this.connection();
    await opened(connection, options);
    return connection.use(async client => work(client), options.signal);
  }
}

async function opened(connection: Connection, { signal, timeout }: RequestOptions): Promise<void> {
  const waiting = new AbortController();
  const giveUp = () => waiting.abort(signal?.reason);
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(
          () => waiting.abort(new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out', { timeout })),
          timeout,
        );
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    await connection.client(waiting.signal);
  } catch (error) {
    assertWanted(waiting.signal);
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
