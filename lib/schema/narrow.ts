import type { Keywords } from './class-rules.js';

/** Narrows `target` by `keywords`. Where both have a say: the narrower bound, else both, through `allOf`. */
export function narrow(target: Keywords, keywords: Keywords): void {
  for (const [key, value] of Object.entries(keywords)) {
    const current = target[key];
    if (current === undefined || (current === 'number' && value === 'integer')) target[key] = value;
    else if (current === value || (current === 'integer' && value === 'number')) continue;
    else if (key.startsWith('min')) target[key] = Math.max(Number(current), Number(value));
    else if (key.startsWith('max')) target[key] = Math.min(Number(current), Number(value));
    else target.allOf = [...((target.allOf as Keywords[] | undefined) ?? []), { [key]: value }];
  }
}
