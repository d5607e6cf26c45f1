import type { McpCall, Params, ReplyChannel } from '../protocol/mcp-call.js';
import type { StoredCall } from '../stores/task-store.js';

/** The call as JSON. A store never holds the caller's token. */
export function storedCall(
  call: McpCall,
  params: Params,
  { mark, journal }: Pick<StoredCall, 'mark' | 'journal'>,
): StoredCall {
  const { requestId, protocolVersion, clientInfo, clientCapabilities, meta, leastSevere } = call;
  const { token: _token, ...authInfo } = call.authInfo ?? {};
  const stored = { requestId, params, protocolVersion, clientInfo, clientCapabilities, meta, leastSevere };
  return { ...stored, ...(call.authInfo && { authInfo: authInfo as StoredCall['authInfo'] }), mark, journal };
}

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
