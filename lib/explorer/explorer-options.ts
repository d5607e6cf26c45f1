import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../options/check-options.js';
import { listOf, objectOf, TEXT } from '../options/option-schema.js';
import { hasMethods } from '../util/values.js';

/** Options of `McpExplorerModule`. */
export interface McpExplorerOptions {
  /** Path of the page; the global prefix applies to it as to any route. Default: `/mcp-explorer`. */
  path?: string;
  /**
   * Nest guards of the page and its API, as with `@UseGuards`. Without guards, the explorer answers loopback addresses only,
   * and the application does not start with `NODE_ENV=production`. Default: none.
   */
  guards?: (Type<CanActivate> | CanActivate)[];
  /** Modules that export the providers which the guards inject. Default: none. */
  imports?: ModuleMetadata['imports'];
  /** Decorators for the route of the page and its API, as on a controller: `[Public()]`. Default: none. */
  decorators?: ClassDecorator[];
}

export type ExplorerSettings = Readonly<Required<McpExplorerOptions>>;

const GUARD = {
  accepts: (value: unknown) => typeof value === 'function' || hasMethods('canActivate')(value),
  description: 'a guard, or a class of guards',
};

const DECORATOR = {
  accepts: (value: unknown) => typeof value === 'function',
  description: 'a decorator',
};

export const EXPLORER = objectOf<McpExplorerOptions, ExplorerSettings>(
  {
    path: {
      ...TEXT,
      pattern: String.raw`^/?[\w.-]+(/[\w.-]+)*$`,
      default: '/mcp-explorer',
      description: 'a path of plain segments, such as "/mcp-explorer"',
    },
    guards: { ...listOf(GUARD, 'a list of guards'), default: [] },
    imports: { type: 'array', description: 'a list of modules', default: [] },
    decorators: { ...listOf(DECORATOR, 'a list of decorators'), default: [] },
  },
  { title: 'options' },
);

/** @throws McpBootstrapError for an unknown or wrong option, or for an explorer without guards in production */
export function resolveExplorerOptions(options: McpExplorerOptions): ExplorerSettings {
  const settings = resolve(EXPLORER, options, problem => new McpBootstrapError('McpExplorerModule', problem));
  if (process.env['NODE_ENV'] === 'production' && settings.guards.length === 0) {
    throw new McpBootstrapError(
      'McpExplorerModule',
      'NODE_ENV is "production" and the explorer has no guards; pass "guards" that admit only operators, or do not import it',
    );
  }
  return settings;
}
