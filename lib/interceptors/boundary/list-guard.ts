import type { Result } from '@modelcontextprotocol/server';
import type { Params } from '../../protocol/mcp-call.js';
import type { DispatchedMethod } from '../../protocol/methods.js';
import { unlessAborted } from '../../util/abort.js';
import type { Chain } from '../chain/chain.js';
import { passed } from '../chain/result.js';
import type { InterceptorSettings } from '../interceptor-options.js';
import { EVENT_OF } from '../protocol/events.js';
import { synthetic } from './answers.js';
import { denialOf, Refused } from './denial.js';
import { Message } from './message.js';
import type { Listings } from './listing.js';
import type { RunPhase } from './run-phase.js';

/** What a list is run through only to know what it shows. */
const LOOKED_UP = { mutatorsOnly: true } as const;

/** What a list shows of something. */
export interface LookedUp {
  readonly isHidden: boolean;
  /** The page that shows it, if one does. */
  readonly page?: Result;
  /** What is answered where it does not exist. */
  readonly refusal: Error;
}

export interface ListGuardOptions {
  readonly listings: Listings;
  readonly settings: Pick<InterceptorSettings, 'timeoutMs'>;
}

/** Keeps what a list's mutators hide from a caller from being used by it. */
export class ListGuard {
  constructor(
    private readonly options: ListGuardOptions,
    private readonly run: RunPhase,
  ) {}

  /** Whether anything could hide what calls of a method name. */
  guards({ chain, method }: Message): boolean {
    return LISTS_FOR[method]?.some(event => isMutated(chain, event)) ?? false;
  }

  /** Whether anything could hide what a call names. */
  mayHide({ chain, method }: Message, params: Params): boolean {
    const event = listOf(method, params);
    return event !== undefined && isMutated(chain, event);
  }

  /** Looks at the list that shows what a call names, as its caller is shown it; undefined where none ever does. */
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

  /** @throws Refused where a list that has to be looked at does not come within the request's time */
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

const isMutated = (chain: Chain, event: string): boolean => {
  const { request, response } = chain.hooked(event);
  return request.mutators.length + response.mutators.length > 0;
};

/** The list that shows what a method uses. A completion is for a prompt, or for a template of resources. */
const listOf = (method: string, params: Params): string | undefined => {
  if (method !== 'completion/complete') return LISTS_FOR[method]?.[0];
  const { type } = (params['ref'] ?? {}) as { type?: unknown };
  return type === 'ref/prompt' ? 'prompts/list' : 'resources/list';
};

/** The lists that can show what a method uses. */
const LISTS_FOR: Readonly<Record<string, readonly string[] | undefined>> = {
  'tools/call': ['tools/list'],
  'prompts/get': ['prompts/list'],
  'resources/read': ['resources/list'],
  'resources/subscribe': ['resources/list'],
  'completion/complete': ['prompts/list', 'resources/list'],
};
