import { Logger } from '@nestjs/common';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { McpContext } from './mcp-context.js';

/** A context of a client that nothing can be sent to. */
function contextOf(signal: AbortSignal) {
  const send = jest.fn(() => Promise.reject(new Error('Not connected')));
  const call = {
    method: 'tools/call',
    meta: { progressToken: 1 },
    minLogLevel: 'debug',
    reply: { signal, notify: send },
  };
  return { send, context: new McpContext(call as unknown as McpCall, {} as ChangeNotifier) };
}

describe('progress and log messages that cannot be sent', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  afterEach(() => warn.mockClear());
  afterAll(() => warn.mockRestore());

  it.each<[string, (context: McpContext) => Promise<void>]>([
    ['progress', context => context.reportProgress(1)],
    ['a log message', context => context.log.info('text')],
  ])('are not thrown, and the log says so: %s', async (_what, tell) => {
    const { context, send } = contextOf(new AbortController().signal);
    await tell(context);
    expect(send).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls).toEqual([
      ['A message of "tools/call" to its client was not sent: Not connected'],
    ]);
  });

  it.each<[string, (context: McpContext) => Promise<void>]>([
    ['progress', context => context.reportProgress(1)],
    ['a log message', context => context.log('info', 'text')],
  ])('are dropped without a word once the client went away: %s', async (_what, tell) => {
    const { context, send } = contextOf(AbortSignal.abort());
    await tell(context);
    expect(send).not.toHaveBeenCalled();
    expect(warn).not.toHaveBeenCalled();
  });
});
