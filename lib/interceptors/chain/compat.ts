import type { InterceptorDescriptor } from '../protocol/types.js';

/** Whether an interceptor understands a revision. Revisions are dates, and compare as text. */
export function isCompatible(compat: InterceptorDescriptor['compat'], protocolVersion: string): boolean {
  if (compat === undefined) return true;
  const { minProtocol, maxProtocol } = compat;
  return minProtocol <= protocolVersion && (maxProtocol === undefined || protocolVersion <= maxProtocol);
}
