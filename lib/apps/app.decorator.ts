import { Resource } from '../decorators/handler.decorators.js';
import { HANDLER_METADATA } from '../decorators/metadata.js';
import type { HandlerMetadata, ToolOptions } from '../decorators/handler-options.js';
import { resolveAppOptions, uiMetaOf, type AppOptions, type ToolUiOptions } from './app-options.js';
import { APP_MIME_TYPE } from './app-context.js';
import { AppView } from './app-view.js';

/** The method that serves the view. */
const READ = 'readAppView';

/** The views, by the `_meta` of their resources. */
const views = new WeakMap<object, AppView>();

/** The view that a resource serves. @param meta `_meta` of its definition */
export const viewOf = (meta: object | undefined): AppView | undefined => meta && views.get(meta);

/**
 * Serves an HTML view of a class, which hosts show in a frame (SEP-1865). `@Tool({ ui })` says which tools it shows. Guards and
 * `@Visible` of the class decide who may read it. Needs `McpAppsModule`.
 * @throws TypeError for a wrong option
 * @example
 * ```ts
 * @App({ uri: 'ui://orders/board', file: 'views/board.html' })
 * @Injectable()
 * export class OrdersBoard {
 *   @Tool({ ui: 'ui://orders/board', outputSchema: BoardDto })
 *   show() {
 *     return this.orders.board();
 *   }
 * }
 * ```
 */
export function App(options: AppOptions): ClassDecorator {
  return type => {
    const view = new AppView(optionsOf(options, type.name));
    const { uri, name = type.name, title, description, server } = view.options;
    const _meta = { ui: uiMetaOf(view.options) };
    views.set(_meta, view);
    const prototype = type.prototype as object;
    assertMethod(view.options, prototype, type.name);
    const descriptor = {
      configurable: true,
      value(this: object) {
        return view.read(this);
      },
    };
    Object.defineProperty(prototype, READ, descriptor);
    const resource = { uri, name, title, description, server, mimeType: APP_MIME_TYPE, _meta };
    Resource(resource)(prototype, READ, descriptor);
    for (const tool of toolsOf(prototype)) tool.ui = withUri(tool.ui, uri);
  };
}

function optionsOf(options: AppOptions, name: string) {
  try {
    return resolveAppOptions(options);
  } catch (error) {
    throw new TypeError(`@App() on ${name}: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws TypeError */
function assertMethod({ method }: AppOptions, prototype: object, name: string): void {
  if (method === undefined || typeof Reflect.get(prototype, method) === 'function') return;
  throw new TypeError(`@App() on ${name}: the class has no method "${method}"`);
}

/** The options of the tools of a class that have a view. */
function toolsOf(prototype: object): ToolOptions[] {
  const methods = Object.values(Object.getOwnPropertyDescriptors(prototype)).map(
    ({ value }) => value as unknown,
  );
  return methods
    .filter(method => typeof method === 'function')
    .flatMap(method => (Reflect.getOwnMetadata(HANDLER_METADATA, method) ?? []) as HandlerMetadata[])
    .flatMap(({ kind, options }) => (kind === 'tool' && options.ui !== undefined ? [options] : []));
}

/** The view of the class is meant if a tool names no other. */
const withUri = (ui: string | ToolUiOptions | undefined, resourceUri: string): string | ToolUiOptions =>
  typeof ui === 'object' ? { resourceUri, ...ui } : ui!;
