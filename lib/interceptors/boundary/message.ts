import type { InputRequiredResult, Result } from '@modelcontextprotocol/server';
import type { AskClient, McpCall, ReplyChannel } from '../../protocol/mcp-call.js';
import type { Chain } from '../chain/chain.js';
import type { Hooked } from '../chain/selection.js';
import { contextOf, ExchangeBag } from '../messages/context.js';
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
    this.hooked = chain.hooked(event);
    // Computed now, so that the context does not depend on which interceptors run before.
    if (!parent && (this.hooks('request') || this.hooks('response'))) this.known = contextOf(call);
    this.bag = parent?.bag ?? new ExchangeBag({ request: call.http?.request }, call.http?.headers);
  }

  hooks(phase: Phase): boolean {
    return this.hooked[phase].size > 0;
  }

  /** Whether a mutator may change it or its answer. */
  get mayChange(): boolean {
    const { request, response } = this.hooked;
    return request.mutators.length + response.mutators.length > 0;
  }

  /** Whether it goes to the client on behalf of another message. */
  get isAsked(): boolean {
    return this.parent !== undefined;
  }

  get context(): ReturnType<typeof contextOf> {
    return this.parent?.context ?? (this.known ??= contextOf(this.call));
  }

  /** A message to the client on behalf of this message. Input requests have no deadline, because people answer them. */
  within(method: string, deadline?: number): Message {
    return new Message(this.chain, method, method, this.call, deadline, undefined, this);
  }
}

export const isInputRequired = (result: unknown): result is InputRequiredResult =>
  (result as { resultType?: unknown } | undefined)?.resultType === 'input_required';

/** Whether a result ends its call. Otherwise, the call goes on in another round, or as a task. */
export const isFinal = ({ resultType }: Result): boolean =>
  resultType === undefined || resultType === 'complete';

interface ChannelChanges {
  readonly notify?: ReplyChannel['notify'];
  readonly status?: ReplyChannel['status'];
  readonly asking?: (ask: AskClient) => AskClient;
}

/** Changes a reply channel. The signal is still created only on demand, and `ask` may become available later. */
export const channelOver = (
  reply: ReplyChannel,
  {
    notify = (method, params) => reply.notify(method, params),
    status = message => reply.status?.(message),
    asking = ask => ask,
  }: ChannelChanges,
): ReplyChannel => ({
  get signal() {
    return reply.signal;
  },
  get isEnded() {
    return reply.isEnded;
  },
  get ask() {
    return reply.ask && asking(reply.ask);
  },
  notify,
  status,
  pause: retryMs => reply.pause?.(retryMs),
  extend: () => reply.extend?.(),
});
