import { Logger } from '@nestjs/common';
import type { Requirements } from '../protocol/permissions.js';
import type { TokenAuthorizer } from './token-authorizer.js';

/** Warns about handlers, and rules of a gateway's tools, with scopes that no login asks for. */
export function warnUnreachable(
  permissions: TokenAuthorizer,
  requirements: ReturnType<Requirements['requirements']>,
): void {
  if (permissions.lists !== 'reachable') return;
  const hidden = requirements.flatMap(({ where, requirement }) => {
    const beyond = (requirement?.scopes ?? []).filter(
      scope => !permissions.shows({ scopes: [scope], anonymous: false }, undefined),
    );
    return beyond.length > 0 ? [`${where} (${beyond.join(' ')})`] : [];
  });
  if (hidden.length === 0) return;
  new Logger(`McpModule(${permissions.server.options.name})`).warn(
    `No client can log in for handlers with scopes that "scopesSupported" of McpAuthModule does not name: ${hidden.join(', ')}; ` +
      'add the scopes, or set "lists" to "allowed" if clients get them in another way',
  );
}
