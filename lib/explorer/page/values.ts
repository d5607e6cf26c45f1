export type Json = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? 'undefined';

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export const ms = (duration: number | undefined): string =>
  duration === undefined
    ? '–'
    : `${duration < 100 ? Number(duration.toPrecision(2)) : Math.round(duration)} ms`;

export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
