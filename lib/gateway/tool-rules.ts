import { matchesGlob } from '../interceptors/protocol/glob.js';
import type { Requirements } from '../protocol/permissions.js';
import type { GatewayToolScopes } from './gateway-options.js';

/** Finds what a tool needs: the scopes of its name, and of each rule such as `git_*` that fits it. */
export function requirementBy(rules: GatewayToolScopes): NonNullable<Requirements['requirementOf']> {
  const all = Object.entries(rules);
  return (kind, name) => {
    const fitting = kind === 'tool' ? all.filter(([rule]) => matchesGlob(rule, name)) : [];
    const scopes = [...new Set(fitting.flatMap(([, own]) => own))];
    return scopes.length > 0 ? { scopes, anonymous: false } : undefined;
  };
}
