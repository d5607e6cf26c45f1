import type { Requirements } from '../protocol/permissions.js';
import type { GatewayToolScopes } from './gateway-options.js';

/** Finds what a tool needs: the scopes of its name, and of each rule such as `git_*` that fits it. */
export function requirementBy(rules: GatewayToolScopes): NonNullable<Requirements['requirementOf']> {
  const all = Object.entries(rules).map(([key, scopes]) => ({
    fits: key.endsWith('*')
      ? (name: string) => name.startsWith(key.slice(0, -1))
      : (name: string) => name === key,
    scopes,
  }));
  return (kind, name) => {
    const fitting = kind === 'tool' ? all.filter(({ fits }) => fits(name)) : [];
    const scopes = [...new Set(fitting.flatMap(one => one.scopes))];
    return scopes.length > 0 ? { scopes, anonymous: false } : undefined;
  };
}
