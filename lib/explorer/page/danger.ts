import { isRecord, type Json } from './values.js';

/** What a call of a tool may do. `null` for a tool that only reads. */
export function dangerOf({ annotations }: Json): string | null {
  const hints = isRecord(annotations) ? annotations : {};
  if (hints['readOnlyHint'] === true) return null;
  return hints['destructiveHint'] === true
    ? 'It may destroy something'
    : 'It may change something (no readOnlyHint)';
}
