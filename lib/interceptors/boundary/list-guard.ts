import type { Result } from '@modelcontextprotocol/server';
import type { Listings } from '../../protocol/listings.js';
import type { Params } from '../../protocol/mcp-call.js';
import { itemOf, LIST_OF, type DispatchedMethod } from '../../protocol/methods.js';
import { unlessAborted } from '../../util/abort.js';
import { passed } from '../chain/result.js';
import type { InterceptorSettings } from '../interceptor-options.js';
import { EVENT_OF } from '../protocol/events.js';
import { synthetic } from './answers.js';
import { denialOf, Refused, type RunPhase } from './run-phase.js';
import { Message } from './message.js';

const LOOKED_UP = { mutatorsOnly: true } as const;

interface LookedUp {
  readonly isHidden: boolean;
  readonly page?: Result;
  /** The error for a missing item. */
  readonly refusal: Error;
}

/** Prevents a caller from using items that a list's mutators hide from it. */
export class ListGuard {
  constructor(
    private readonly options: {
      readonly listings: Listings;
      readonly settings: Pick<InterceptorSettings, 'timeoutMs'>;
    },
    private readonly run: RunPhase,
  ) {}

  mayHide({ chain, method }: Message, params: Params): boolean {
    const item = itemOf(method, params);
    if (!item) return false;
    const { request, response } = chain.hooked(EVENT_OF[LIST_OF[item.kind]]!);
    return request.mutators.length + response.mutators.length > 0;
  }

  /**
   * Finds the list page that shows the handler that a call names, as its caller sees it. Undefined if no list shows it.
   */
  async lookUp(message: Message, params: Params): Promise<LookedUp | undefined> {
    const { chain, call, deadline } = message;
    const method = message.method as DispatchedMethod;
    const showing = this.options.listings.pageShowing(method, params, call);
    const listing = showing instanceof Promise ? await this.inTime(message, showing) : showing;
    if (listing === undefined) return undefined;
    const list = new Message(
      chain,
      listing.method,
      EVENT_OF[listing.method] ?? listing.method,
      call,
      deadline,
    );
    const request = await this.run(list, 'request', {}, undefined, LOOKED_UP);
    const shown = request.response ? synthetic(listing.method, request.response) : listing.result;
    const { finalPayload } = await this.run(list, 'response', shown, request.finalPayload, LOOKED_UP);
    const { refusal } = listing;
    return listing.isShown(finalPayload)
      ? { isHidden: false, page: finalPayload as Result, refusal }
      : { isHidden: true, refusal };
  }

  /** @throws Refused if the required list does not arrive within the request's time */
  private async inTime<T>({ deadline, event }: Message, listed: Promise<T>): Promise<T> {
    if (deadline === undefined) return listed;
    const { timeoutMs } = this.options.settings;
    const isUp = AbortSignal.timeout(Math.max(0, Math.floor(deadline - performance.now())));
    try {
      return await unlessAborted(listed, isUp);
    } catch (error) {
      if (error !== isUp.reason) throw error;
      throw new Refused(
        denialOf({ ...passed({ event, phase: 'request', payload: {} }), status: 'timeout' }, timeoutMs),
      );
    }
  }
}

export function isSameItem(method: string, a: Params, b: Params): boolean {
  const [one, other] = [itemOf(method, a), itemOf(method, b)];
  return one?.kind === other?.kind && one?.id === other?.id;
}
