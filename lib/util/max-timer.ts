/** The longest that a timer can wait, in milliseconds; past it, it does not wait at all. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
