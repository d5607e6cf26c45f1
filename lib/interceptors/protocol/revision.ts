import type { InterceptorDescriptor } from './types.js';

export const isWithin = (revision: string, min = '', max?: string): boolean =>
  min <= revision && (max === undefined || revision <= max);

/** Whether an interceptor understands a revision; one that is not known does no harm. */
export const isCompatible = (
  compat: InterceptorDescriptor['compat'],
  revision: string | undefined,
): boolean => !compat || revision === undefined || isWithin(revision, compat.minProtocol, compat.maxProtocol);
