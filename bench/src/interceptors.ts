import { Chain } from '../../dist/cjs/interceptors/chain/chain.js';
import type { ChainEntry } from '../../dist/cjs/interceptors/chain/entry.js';
import { normalise } from '../../dist/cjs/interceptors/local/local-host.js';

/** A call of ordinary size. */
export const CALL = {
  name: 'create_order',
  arguments: {
    customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
    items: [
      { sku: 'BK-1042', quantity: 2, note: 'Gift wrap, please' },
      { sku: 'BK-0007', quantity: 1, note: '' },
    ],
    comment: 'Ring twice. If nobody is in, leave it with the neighbour at number 12, who knows about it.',
  },
};
type Call = typeof CALL;

const SECRETS = [
  /\bsk-[A-Za-z0-9]{20,}/,
  /\bAKIA[A-Z0-9]{16}\b/,
  /\bghp_[A-Za-z0-9]{36}\b/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];
const CARD_NUMBER = /\b(?:\d[ -]?){13,16}\b/g;

/** Looks for secrets, wherever in the arguments they are. */
export function isClean(call: Call): boolean {
  const text = JSON.stringify(call.arguments);
  return !SECRETS.some(secret => secret.test(text));
}

/** What a shop would check of an order. */
export const RULES: readonly ((call: Call) => boolean)[] = [
  ({ arguments: { items } }) => items.every(({ note }) => note.length <= 200),
  ({ name }) => ['create_order', 'cancel_order'].includes(name),
  ({ arguments: { customer } }) => /^[^@\s]+@[^@\s]+\.[a-z]+$/i.test(customer.email),
  ({ arguments: { customer } }) => customer.name.trim() !== '' && customer.name.length <= 200,
  ({ arguments: { items } }) => items.length > 0 && items.length <= 100,
  ({ arguments: { items } }) => items.every(({ sku }) => /^[A-Z]{2}-\d{4}$/.test(sku)),
  ({ arguments: { items } }) => items.every(({ quantity }) => Number.isInteger(quantity) && quantity > 0),
  ({ arguments: { items } }) => items.reduce((sum, { quantity }) => sum + quantity, 0) <= 500,
  ({ arguments: { items } }) => new Set(items.map(({ sku }) => sku)).size === items.length,
  ({ arguments: { comment } }) => comment.length <= 1000 && !/<[a-z/!]/i.test(comment),
];

/** Takes card numbers out of whatever text there is. */
export const redact = (call: Call): Call => ({
  ...call,
  arguments: redacted(call.arguments) as Call['arguments'],
});

function redacted(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(CARD_NUMBER, '[card]');
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redacted(item)]));
}

export type Kind = 'validator' | 'mutator';
type Interceptor = (invocation: { readonly payload: unknown }) => unknown;

/** What a user would write, in the two forms in which users write it. */
export const INTERCEPTORS: Readonly<Record<Kind, Readonly<Record<'sync' | 'async', Interceptor>>>> = {
  validator: {
    sync: ({ payload }) => isClean(payload as Call),
    async: async ({ payload }) => isClean(payload as Call),
  },
  mutator: {
    sync: ({ payload }) => redact(payload as Call),
    async: async ({ payload }) => redact(payload as Call),
  },
};

/** The engine, with `count` interceptors as an application's own provider has them. */
export function chainOf(kind: Kind, run: Interceptor, count: number, event = 'tools/call'): Chain {
  const type = kind === 'validator' ? 'validation' : 'mutation';
  return new Chain(
    Array.from({ length: count }, (_, index): ChainEntry => ({
      host: 'local',
      descriptor: { name: `${kind}-${index}`, type, hooks: [{ events: [event], phase: 'request' }] },
      invoke: run,
      read: (value, name, payload) => normalise(type, value, name, payload),
    })),
  );
}

export const throughEngine = (chain: Chain) => () =>
  chain.execute({ event: 'tools/call', phase: 'request', direction: 'receive', payload: CALL });

/** The same functions without an engine: validators in one `Promise.all`, mutators in a loop. */
export function byHand(kind: Kind, run: Interceptor, count: number): () => Promise<unknown> {
  const all = Array.from({ length: count }, () => run);
  if (kind === 'validator') return () => Promise.all(all.map(one => one({ payload: CALL })));
  return async () => {
    let payload: unknown = CALL;
    for (const one of all) payload = await one({ payload });
    return payload;
  };
}
