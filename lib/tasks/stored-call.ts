import { principalOf } from '../interceptors/messages/context.js';
import { callerOf } from '../protocol/caller.js';
import { limitKeyIn } from '../protocol/caller-limit.js';
import type { CallerIdentity, McpCall, Params, ReplyChannel } from '../protocol/mcp-call.js';
import type { StoredCall } from '../stores/task-store.js';

/** A call that knows its caller without its request. A guard of the handler may set another `request.user` later. */
export const identified = (call: McpCall): McpCall => ({
  ...call,
  identity: {
    key: callerOf(call.authInfo, call.http?.request),
    limitKey: limitKeyIn(call),
    ...(!call.authInfo && { principal: principalOf(call) }),
  },
});

/** The call as JSON. A store never holds the caller's token. */
export function storedCall(
  call: McpCall,
  params: Params,
  { mark, journal }: Pick<StoredCall, 'mark' | 'journal'>,
): StoredCall {
  const { requestId, protocolVersion, clientInfo, clientCapabilities, meta, minLogLevel, identity } = call;
  const { token: _token, ...authInfo } = call.authInfo ?? {};
  const stored = { requestId, params, protocolVersion, clientInfo, clientCapabilities, meta, minLogLevel };
  return {
    ...stored,
    ...(call.authInfo && { authInfo: authInfo as StoredCall['authInfo'] }),
    ...(identity && { identity: jsonOf(identity) }),
    mark,
    journal,
  };
}

/** Leaves out a `bigint`, such as an id among the claims of a user. JSON has no such numbers. */
const jsonOf = (identity: CallerIdentity): CallerIdentity =>
  JSON.parse(
    JSON.stringify(identity, (_key, value: unknown) => (typeof value === 'bigint' ? undefined : value)),
  ) as CallerIdentity;

/** The call of a task that this process runs. Its HTTP request is gone. */
export const callOf = ({ authInfo, mark: _mark, journal, ...stored }: StoredCall): McpCall => ({
  ...stored,
  method: 'tools/call',
  era: 'modern',
  reply: new GoneReply(),
  ...(authInfo && { authInfo: { ...authInfo, token: '' } }),
  memory: { journal },
  isSynthetic: true,
});

/** The channel of a request that was answered in another process. */
class GoneReply implements ReplyChannel {
  readonly signal = new AbortController().signal;
  async notify(): Promise<void> {}
}
