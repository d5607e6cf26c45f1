import { Logger } from '@nestjs/common';
import type { Entry } from '../catalog/entries.js';
import type { HandlerExplorer } from '../catalog/explorer.js';
import type { HandlerCompiler } from '../catalog/handler-compiler.js';
import type { RouteDeclaration } from '../catalog/routes/route-declaration.js';
import type { HandlerMetadata } from '../decorators/handler-options.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { readParams } from '../execution/handler-params.js';
import type { HandlerTarget } from '../execution/handler-target.js';
import { PARAM } from '../catalog/routes/refused.js';
import type { ServerDraft } from './server-draft.js';

/**
 * Makes tools, and resource templates, of the routes that the option `routes` selects. The log names the routes that
 * cannot be served, with the reason.
 * @throws McpBootstrapError for a class that is not a controller, and for a name that exists
 */
export async function chooseRoutes(
  { options, table }: ServerDraft,
  explorer: HandlerExplorer,
  compiler: HandlerCompiler,
): Promise<void> {
  const { include, methods, resources = false } = options.routes!;
  const where = `McpModule.forRoot({ name: ${JSON.stringify(options.name)} })`;
  const stray = include.find(type => !explorer.isController(type));
  if (stray) {
    throw new McpBootstrapError(
      where,
      `"routes.include" has ${stray.name}, which no module lists in "controllers"`,
    );
  }
  const leftOut: string[] = [];
  const made: Entry[] = [];
  for (const { target, route } of explorer.routesOf(include)) {
    if (methods && !methods.includes(route.verb)) continue;
    try {
      for (const metadata of declarations(target, route, resources)) {
        made.push(await compiler.compile({ metadata, target, isRoute: true }));
      }
    } catch (error) {
      leftOut.push((error as Error).message);
    }
  }
  for (const entry of made) table.add(entry);
  const tools = made.filter(({ kind }) => kind === 'tool').length;
  logChoice(options, { tools, resources: made.length - tools }, leftOut);
}

function logChoice(
  { name, routes }: ServerDraft['options'],
  { tools, resources }: Readonly<Record<'tools' | 'resources', number>>,
  leftOut: readonly string[],
): void {
  const logger = new Logger(`McpModule(${name})`);
  const made = [counted(tools, 'tool'), ...(resources > 0 ? [counted(resources, 'resource')] : [])].join(
    ' and ',
  );
  const controllers = routes!.include.map(type => type.name).join(', ');
  const { length } = leftOut;
  const verb = tools + resources === 1 ? 'is a route' : 'are routes';
  const rest =
    length === 0
      ? ''
      : `; ${counted(length, 'route')} ${length === 1 ? 'is' : 'are'} left out, which the verbose log explains`;
  logger.log(`${made} ${verb} of ${controllers}${rest}`);
  for (const reason of leftOut) logger.verbose(`Left out: ${reason}`);
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function declarations(target: HandlerTarget, route: RouteDeclaration, resources: boolean): HandlerMetadata[] {
  const name =
    snakeCase(target.handlerClass.name.replace(/Controller$/, '')) + '_' + snakeCase(target.methodName);
  const tool: HandlerMetadata = { kind: 'tool', options: { name } };
  if (!resources || route.verb !== 'GET' || !hasOnlyPath(target)) return [tool];
  const uri = uriOf(route);
  const resource: HandlerMetadata = uri.includes('{')
    ? { kind: 'resource template', options: { name, uriTemplate: uri } }
    : { kind: 'resource', options: { name, uri } };
  return [tool, resource];
}

/** Whether the path is all that a route reads of its request. */
const hasOnlyPath = (target: HandlerTarget): boolean =>
  readParams(target, true).every(({ paramtype }) => paramtype === undefined || paramtype === PARAM.path);

/** The path without prefix and version, such as `route://orders/{id}`. */
function uriOf({ controllerPath, methodPath }: RouteDeclaration): string {
  const segments = [controllerPath, methodPath]
    .flatMap(path => path.split('/'))
    .filter(segment => segment !== '');
  return `route://${segments.map(segment => segment.replace(/^:(\w+)$/, '{$1}')).join('/')}`;
}

/** `cancelAll` is `cancel_all`, and `HTMLPages` is `html_pages`. */
const snakeCase = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
