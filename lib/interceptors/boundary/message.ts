import type { McpCall } from '../../protocol/mcp-call.js';
import type { Chain } from '../chain/chain.js';
import type { Hooked } from '../chain/selection.js';
import { contextOf } from '../messages/context.js';
import { ExchangeBag } from '../messages/exchange-bag.js';
import type { Phase } from '../protocol/types.js';

export class Message {
  readonly bag: ExchangeBag;
  private readonly hooked: Hooked;
  private known?: ReturnType<typeof contextOf>;

  constructor(
    readonly chain: Chain,
    readonly method: string,
    readonly event: string,
    readonly call: McpCall,
    readonly deadline?: number,
    readonly end?: () => void,
    private readonly parent?: Message,
  ) {
    const hooked = chain.hooked(event);
    this.hooked = hooked;
    // What an interceptor is told must not depend on whether another one is asked before it.
    if (!parent && hooked.request.size + hooked.response.size > 0) this.known = contextOf(call);
    this.bag = parent?.bag ?? new ExchangeBag({ request: call.http?.request }, call.http?.headers);
  }

  hooks(phase: Phase): boolean {
    return (phase === 'request' ? this.hooked.request : this.hooked.response).size > 0;
  }

  get isAsked(): boolean {
    return this.parent !== undefined;
  }

  get context(): ReturnType<typeof contextOf> {
    return this.parent?.context ?? (this.known ??= contextOf(this.call));
  }

  telling(method: string, deadline: number | undefined): Message {
    return new Message(this.chain, method, method, this.call, deadline, undefined, this);
  }

  /** What the client is asked on behalf of this message. Its time is its own: people answer it. */
  asking(method: string): Message {
    return new Message(this.chain, method, method, this.call, undefined, undefined, this);
  }
}
