import { Logger } from '@nestjs/common';
import type { McpServerInstance } from '../server/mcp-server-instance.js';

/** Warns about handlers, and rules of a gateway's tools, with scopes that no login asks for. */
export function warnUnreachable({ access, options, table, handlers }: McpServerInstance): void {
  const { authorizer } = access ?? {};
  if (authorizer?.lists !== 'reachable') return;
  const rules = Object.entries(handlers.toolRules ?? {}).map(([rule, scopes]) => ({
    where: `"toolScopes.${rule}"`,
    scopes,
  }));
  const decorated = Array.from(table.enabled(), ({ where, access: own }) => ({
    where,
    scopes: own?.scopes ?? [],
  }));
  const hidden = [...decorated, ...rules].flatMap(({ where, scopes }) => {
    const beyond = scopes.filter(
      scope => !authorizer.shows({ scopes: [scope], anonymous: false }, undefined),
    );
    return beyond.length > 0 ? [`${where} (${beyond.join(' ')})`] : [];
  });
  if (hidden.length === 0) return;
  new Logger(`McpModule(${options.name})`).warn(
    `No client can log in for handlers with scopes that "scopesSupported" of McpAuthModule does not name: ${hidden.join(', ')}; ` +
      'add the scopes, or set "lists" to "allowed" if clients get them in another way',
  );
}
