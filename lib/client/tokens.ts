import type { InjectionToken } from '@nestjs/common';

/**
 * The names that were ever asked for, and the classes that inject them. A module whose clients are made by a factory
 * knows no names by the time it has to tell Nest what it provides; these are what it can be asked for.
 */
const WANTED = new Map<string, Set<object>>();

/** The token of an `McpClient`, for `useFactory` providers and `app.get()`; `@InjectMcpClient` elsewhere. */
export function getMcpClientToken(name: string): InjectionToken {
  want(name);
  return tokenOf(name);
}

/** Like `getMcpClientToken`, without asking for the client. A string, so that two copies of this package share it. */
export const tokenOf = (name: string): string => `nestjs-mcp:client:${name}`;

/** Remembers that somebody, perhaps a class, asks for the client of that name. */
export function want(name: string, ...by: object[]): void {
  WANTED.set(name, new Set([...(WANTED.get(name) ?? []), ...by]));
}

/** Every name that was asked for in this process, by whatever application. */
export const wantedNames = (): string[] => [...WANTED.keys()];

/** The classes that inject the client of that name. */
export const wantedBy = (name: string): ReadonlySet<unknown> => WANTED.get(name) ?? new Set();
