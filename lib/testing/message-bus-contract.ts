import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isRecord } from '../util/is-record.js';
import type { MessageBus } from '../stores/message-bus.js';
import { contractOf } from './contract-check.js';

const LAST = { isLast: true };

export const messageBusContract = contractOf<MessageBus>({
  'messages of a node reach every listener on another, once and in their order': async (one, other) => {
    const channel = randomUUID();
    const heard = [await listen(other, channel), await listen(other, channel)];
    const sent = Array.from({ length: 100 }, (_, index) => ({ index }));
    await Promise.all([...sent, LAST].map(message => one.publish(channel, message)));
    assert.deepEqual(await Promise.all(heard.map(({ all }) => all)), [sent, sent]);
  },
  'a message arrives as it was sent': async (one, other) => {
    const channel = randomUUID();
    const { all } = await listen(other, channel);
    const message = { text: 'é€\u{1f642}\n"', list: [1, null, { deep: true }], none: {} };
    await one.publish(channel, message);
    await one.publish(channel, LAST);
    assert.deepEqual(await all, [message]);
  },
  'a listener receives only messages of its channel': async (one, other) => {
    const channel = randomUUID();
    const { all } = await listen(other, channel);
    await one.publish(`${channel}:more`, { index: 1 });
    await one.publish(channel.slice(1), { index: 2 });
    await one.publish(channel, LAST);
    assert.deepEqual(await all, []);
  },
  'a stopped listener receives no more messages, and other listeners still do': async (one, other) => {
    const channel = randomUUID();
    const stopped: unknown[] = [];
    const stop = await other.subscribe(channel, message => stopped.push(message));
    const { all } = await listen(other, channel);
    await stop();
    await one.publish(channel, { index: 1 });
    await one.publish(channel, LAST);
    assert.deepEqual([await all, stopped], [[{ index: 1 }], []]);
  },
  'a message without a listener is not an error': async one => {
    await one.publish(randomUUID(), LAST);
  },
});

/** Collects the messages that arrive before the last one. */
async function listen(bus: MessageBus, channel: string): Promise<{ readonly all: Promise<unknown[]> }> {
  const messages: unknown[] = [];
  let done!: (messages: unknown[]) => void;
  const all = new Promise<unknown[]>(resolve => (done = resolve));
  const stop = await bus.subscribe(channel, message => {
    if (isRecord(message) && 'isLast' in message) done(messages);
    else messages.push(message);
  });
  return { all: all.finally(stop) };
}
