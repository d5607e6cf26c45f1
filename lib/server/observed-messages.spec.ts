import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { Traffic } from '../protocol/traffic.js';
import { observeMessages } from './observed-messages.js';

it('ends a request whose id is used again before its answer', () => {
  const ended: unknown[] = [];
  const traffic = new Traffic();
  traffic.add({
    begin: ({ method }) => ({
      end: outcome => ended.push([method, 'aborted' in outcome && outcome.aborted]),
    }),
  });
  const observer = traffic.at({ side: 'server', name: 'shop' })!;
  const transport: Transport = {
    start: () => Promise.resolve(),
    send: () => Promise.resolve(),
    close: () => Promise.resolve(),
    onmessage: () => undefined,
  };
  observeMessages(transport, { observer, asking: observer, isOwn: () => false, about: () => ({}) });
  const request = (method: string): JSONRPCMessage => ({ jsonrpc: '2.0', id: 1, method });
  transport.onmessage!(request('initialize'));
  transport.onmessage!(request('ping'));
  expect(ended).toEqual([['initialize', 'cancelled']]);
  transport.onclose!();
  expect(ended).toEqual([
    ['initialize', 'cancelled'],
    ['ping', 'cancelled'],
  ]);
});
