import { isIPv6 } from 'node:net';

const MAPPED_IPV4 = '::ffff:';

/**
 * The part of an address that its owner cannot choose: a whole IPv4 address, or the first 64 bits of an IPv6 address.
 */
export function networkOf(address: string): string {
  if (address.startsWith(MAPPED_IPV4) && address.includes('.')) return address.slice(MAPPED_IPV4.length);
  if (!isIPv6(address)) return address;
  const [left, right = []] = address.split('::').map(groupsOf);
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return `${[...left, ...zeros, ...right]
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** The last two groups may look like an IPv4 address. They are never among the first four. */
const groupsOf = (text: string): string[] =>
  text === '' ? [] : text.replace(/\d+\.\d+\.\d+\.\d+/, '0:0').split(':');

/** Whether an address is one of this machine alone. */
export const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && /^(127\.|::1$|::ffff:127\.)/.test(address);
