/** Whether two JSON values are equal. For small values, it takes a fraction of the time of `isDeepStrictEqual`. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  let count = 0;
  for (const key in one) {
    if (!Object.hasOwn(other, key)) return false;
    if (!isSameJson((one as Fields)[key], (other as Fields)[key])) return false;
    count += 1;
  }
  for (const _ in other) count -= 1;
  return count === 0;
}

type Fields = Record<string, unknown>;
