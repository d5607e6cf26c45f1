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
