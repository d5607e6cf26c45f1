import { type InjectionToken, Inject } from '@nestjs/common';

/** Names that were asked for, and the classes that inject them: a factory gives its names too late for Nest. */
const WANTED = new Map<string, Set<object>>();

/**
 * The token of an `McpClient`, for `useFactory` providers and `app.get()`; `@InjectMcpClient` elsewhere.
 * @example
 * ```ts
 * const billing = app.get<McpClient>(getMcpClientToken('billing'));
 * ```
 */
export function getMcpClientToken(name: string): InjectionToken {
  want(name);
  return tokenOf(name);
}

export const tokenOf = (name: string): string => `nestjs-mcp:client:${name}`;

/** Remembers that the client of that name is wanted, and the classes that inject it. */
export function want(name: string, ...by: object[]): void {
  WANTED.set(name, new Set([...(WANTED.get(name) ?? []), ...by]));
}

/** All names that are wanted in this process, by any application. */
export const wantedNames = (): string[] => [...WANTED.keys()];

export const wantedBy = (name: string): ReadonlySet<unknown> => WANTED.get(name) ?? new Set();

/**
 * Injects the `McpClient` of that name. The start fails if no `register` or `registerAsync` provides it.
 * @example
 * ```ts
 * constructor(@InjectMcpClient('billing') private readonly billing: McpClient) {}
 * ```
 */
export const InjectMcpClient =
  (name: string): ParameterDecorator & PropertyDecorator =>
  (target: object, key: string | symbol | undefined, index?: number) => {
    // The class itself for a constructor's parameter, its prototype for a property.
    want(name, typeof target === 'function' ? target : target.constructor);
    (Inject(tokenOf(name)) as (target: object, key?: string | symbol, index?: number) => void)(
      target,
      key,
      index,
    );
  };
