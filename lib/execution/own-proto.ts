const KEY = '__proto__';

/**
 * What a client sent, without members called `__proto__`, which `JSON.parse` makes and which change the prototype of whatever
 * they are assigned to. Data that has none is handed back as it is.
 */
export const withoutOwnProto = (data: unknown): unknown =>
  hasOwnProto(data)
    ? (JSON.parse(JSON.stringify(data), (key, value: unknown) =>
        key === KEY ? undefined : value,
      ) as unknown)
    : data;

/** Looks without recursion: a client decides how deep its arguments are. */
function hasOwnProto(data: unknown): boolean {
  const pending = [data];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, KEY)) return true;
    for (const child of Object.values(value))
      if (typeof child === 'object' && child !== null) pending.push(child);
  }
  return false;
}
