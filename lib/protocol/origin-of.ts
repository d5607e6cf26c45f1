import type { Server } from 'node:http';

/** The origin at which this machine reaches a listening server; undefined if it does not listen at a port. */
export function originOf(server: Server): string | undefined {
  const at = server.address();
  if (at === null || typeof at === 'string') return undefined;
  const { address, family, port } = at;
  const isEvery = address === '::' || address === '0.0.0.0';
  const host = isEvery ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `${'setSecureContext' in server ? 'https' : 'http'}://${host}:${port}`;
}
