import type { GatewayToolScopes } from './gateway-options.js';

/** Finds the scopes of a tool: the scopes of its name, and of each rule such as `git_*` that fits it. */
export function scopesBy(rules: GatewayToolScopes): (name: string) => readonly string[] {
  const all = Object.entries(rules).map(([key, scopes]) => ({
    fits: key.endsWith('*')
      ? (name: string) => name.startsWith(key.slice(0, -1))
      : (name: string) => name === key,
    scopes,
  }));
  return name => [...new Set(all.filter(({ fits }) => fits(name)).flatMap(({ scopes }) => scopes))];
}
