import type { RequestOptions } from '@modelcontextprotocol/client';
import {
  ClientBoundary,
  type ClientBoundaryOptions,
  type InterceptedInputHandler,
} from './client-boundary.js';
import type { InputMethod } from '../protocol/methods.js';
import type { InputHandler } from './input-requests.js';
import { type ClientVerbs, InterceptedVerbs } from './intercepted-verbs.js';

/** A client to intercept: the SDK's `Client`, or anything with its verbs. */
export type InterceptableClient = ClientVerbs & {
  /** Answers requests of the server. Without it, the client answers nothing. */
  setRequestHandler?(method: InputMethod, handler: InterceptedInputHandler): void;
};

/**
 * Puts a chain around an SDK client, without Nest. A request is mutated, then validated; its result is validated, then
 * mutated. A refusal is thrown as an `McpException`.
 *
 * @example
 * const chain = await InterceptorChain.discover([{ name: 'privacy', client: privacy }]);
 * const governed = new InterceptingMcpClient(client, { chain });
 * await governed.callTool({ name: 'search', arguments: { query: 'lamp' } });
 */
export class InterceptingMcpClient extends InterceptedVerbs {
  /** @param client a client of the SDK, which the caller connects, before or after, and closes */
  constructor(
    private readonly client: InterceptableClient,
    options: ClientBoundaryOptions,
  ) {
    super(new ClientBoundary(options));
  }

  /**
   * Answers requests of the server, with the chain around the handler.
   * @throws Error if the client answers no requests, SdkError if it has not declared the capability
   */
  setRequestHandler<M extends InputMethod>(method: M, handler: InputHandler<M>): void {
    const { client } = this;
    if (!client.setRequestHandler) throw new Error(`This client cannot answer ${method}`);
    client.setRequestHandler(
      method,
      this.boundary.answering(method, handler, () => this.protocolVersion()),
    );
  }

  protected override use<T>(
    _options: RequestOptions | undefined,
    work: (client: ClientVerbs) => Promise<T>,
  ): Promise<T> {
    return work(this.client);
  }

  protected override protocolVersion(): string | undefined | Promise<string | undefined> {
    return this.client.getNegotiatedProtocolVersion?.();
  }
}
