import { once, setMaxListeners } from 'node:events';
import {
  SUBSCRIPTION_ID_META_KEY,
  type ServerCapabilities,
  type ServerEventBus,
  type SubscriptionFilter,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Answer, Stage } from '../protocol/answer.js';
import { CHANGES } from '../protocol/changes.js';
import type { McpCall, Params, ReplyChannel } from '../protocol/mcp-call.js';
import { listenedUris } from '../protocol/params.js';
import type { Handlers } from '../protocol/handlers.js';
import type { ServerExtension } from '../protocol/server-extension.js';
import { isListenFilter } from './wire-codec.js';

/** Maximum resources in one `subscriptions/listen` request. */
const MAX_RESOURCES = 1000;
/** Maximum characters of all their URIs. */
const MAX_LENGTH = 65_536;

export interface ListenParts {
  readonly handlers: Handlers;
  readonly extensions: readonly ServerExtension[];
  readonly bus: ServerEventBus;
}

/**
 * The first stage of `subscriptions/listen`: checks the filter. Whatever the other stages and the handlers do for the
 * client ends with the request, even if it is refused.
 */
export const boundedListen: Stage = next => async (call, params) => {
  assertFilter(params);
  const { reply } = call;
  const over = new AbortController();
  const signal = AbortSignal.any([reply.signal, over.signal]);
  // Each of the resources may add a listener.
  setMaxListeners(0, signal);
  // Guards may log, but nothing goes before the acknowledgement.
  const notify = () => Promise.resolve();
  const quiet: ReplyChannel = { signal, notify, stayOpen: () => reply.stayOpen!() };
  try {
    return await next({ ...call, reply: quiet }, params);
  } catch (error) {
    throw reply.signal.aborted ? new McpException(McpErrorCode.Refused, 'The request was cancelled') : error;
  } finally {
    over.abort();
  }
};

/** Answers `subscriptions/listen`: acknowledges what is accepted, and reports it until the reply ends. */
export const listenAnswer =
  ({ handlers, extensions, bus }: ListenParts): Answer =>
  async (call, params) => {
    const { requestId, reply } = call;
    const filter = params['notifications'] as SubscriptionFilter & Params;
    const uris = await admitResources(handlers, call, listenedUris(params));
    const changes = declaredIn(handlers.description.capabilities, {
      ...filter,
      resourceSubscriptions: filter.resourceSubscriptions?.filter(uri => uris.has(uri)),
    });
    const all = await Promise.all(extensions.flatMap(one => one.listen?.(filter, call) ?? []));
    const own = all.filter(one => one !== undefined);
    reply.signal.throwIfAborted();

    const accepted = Object.assign({}, changes, ...own.map(one => one.accepted)) as Params;
    const _meta = { [SUBSCRIPTION_ID_META_KEY]: requestId };
    const send = reply.stayOpen!();
    const notify: ReplyChannel['notify'] = async (method, { _meta: more, ...rest }) => {
      if (!reply.signal.aborted) await send(method, { ...rest, _meta: { ...(more as Params), ..._meta } });
    };
    const acknowledged = notify('notifications/subscriptions/acknowledged', { notifications: accepted });
    const isEmpty = Object.keys(accepted).length === 0;
    const ends = isEmpty ? [] : [reportChanges(bus, changes, notify)];
    try {
      await acknowledged;
      if (isEmpty) return { _meta };
      for (const one of own) ends.push(one.open(notify));
      if (!reply.signal.aborted) await once(reply.signal, 'abort');
      return { _meta };
    } finally {
      for (const end of ends) end();
    }
  };

/** @throws McpException (-32602) */
function assertFilter(params: Params): void {
  const { resourceSubscriptions } = (params['notifications'] ?? {}) as Params;
  const uris: unknown[] = Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [];
  const length = uris.reduce<number>((sum, uri) => sum + (typeof uri === 'string' ? uri.length : 0), 0);
  if (uris.length > MAX_RESOURCES) throw invalid(`At most ${MAX_RESOURCES} resources can be listened to`);
  if (length > MAX_LENGTH) throw invalid(`At most ${MAX_LENGTH} characters of URIs can be listened to`);
  if (isListenFilter(params)) return;
  throw invalid("Invalid params: 'notifications' is required and must be a valid SubscriptionFilter");
}

/**
 * Lets the handlers decide on each resource. The first refusal is the answer.
 * @returns the resources whose changes are reported
 */
async function admitResources(
  handlers: Handlers,
  call: McpCall,
  uris: readonly string[],
): Promise<ReadonlySet<string>> {
  const { subscriptionsAtOnce } = handlers;
  const accepted = new Set<string>();
  for (let start = 0; start < uris.length; start += subscriptionsAtOnce) {
    // The client has disconnected, so no further check runs.
    call.reply.signal.throwIfAborted();
    const some = uris.slice(start, start + subscriptionsAtOnce);
    const admitted = await Promise.allSettled(some.map(uri => handlers.admitSubscription(uri, call)));
    for (const [index, one] of admitted.entries()) {
      if (one.status === 'rejected') throw one.reason;
      if (one.value) accepted.add(some[index]);
    }
  }
  return accepted;
}

/** The changes that a client asks for and the server declares. */
function declaredIn(capabilities: ServerCapabilities, filter: SubscriptionFilter): SubscriptionFilter {
  const declared = capabilities as Record<string, Params | undefined>;
  const accepted = Object.values(CHANGES).flatMap(([capability, flag, field]) => {
    const asked = filter[field];
    const isAsked = Array.isArray(asked) ? asked.length > 0 : asked === true;
    return isAsked && declared[capability]?.[flag] === true ? [[field, asked]] : [];
  });
  return Object.fromEntries(accepted) as SubscriptionFilter;
}

/** @returns a function that ends the reports */
function reportChanges(
  bus: ServerEventBus,
  asked: SubscriptionFilter,
  notify: ReplyChannel['notify'],
): () => void {
  const uris = new Set(asked.resourceSubscriptions);
  return bus.subscribe(event => {
    const [, , field, method] = CHANGES[event.kind];
    const resource = event.kind === 'resource_updated' && { uri: event.uri };
    const isAsked = resource ? uris.has(resource.uri) : asked[field] === true;
    if (isAsked) void notify(method, { ...event.params, ...resource });
  });
}

const invalid = (message: string): McpException => new McpException(McpErrorCode.InvalidParams, message);
