import { Logger } from '@nestjs/common';
import type { Result } from '@modelcontextprotocol/server';
import type { ToolEntry } from '../catalog/entries.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { Stage } from '../protocol/answer.js';
import type { ServerExtension, Stages } from '../protocol/server-extension.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { defined } from '../util/defined.js';
import { APP_MIME_TYPE, APPS_EXTENSION } from './app-context.js';
import { viewOf } from './app.decorator.js';
import { toolUiOf } from './app-options.js';
import type { AppView } from './app-view.js';
import type { FindHtmlErrors } from './html-errors.js';

/** The key that hosts read which are older than the extension. */
const OLD_KEY = 'ui/resourceUri';

/** Views of tools (SEP-1865), for clients of both eras. */
export class AppsExtension implements ServerExtension {
  readonly id = APPS_EXTENSION;
  readonly forOwnHandlers = true;
  private readonly logger = new Logger('McpApps');
  private readonly tools = new Map<string, ToolEntry>();
  /** The views that lists leave out. */
  private readonly unlisted = new Set<string>();
  private readonly warned = new Set<string>();
  private server?: McpServerInstance;

  /** @param findErrors undefined if nobody is to learn of errors in HTML */
  constructor(private readonly findErrors?: FindHtmlErrors) {}

  readonly handlerOptions = {
    ui: (value: unknown, handler: object) => {
      const tool = handler as ToolEntry;
      const { resourceUri, visibility } = toolUiOf(value);
      const { definition } = tool;
      const ui = defined({ resourceUri, visibility });
      definition._meta = defined({ ...definition._meta, ui, [OLD_KEY]: resourceUri });
      this.tools.set(tool.key, tool);
      if (this.server) this.assertView(tool, this.server);
    },
  };

  /** @throws McpBootstrapError for a view that does not exist, and for a file that cannot be read */
  attach(server: McpServerInstance): void {
    this.server = server;
    for (const { definition, where } of server.catalog.resources.values()) {
      const view = viewOf(definition._meta);
      if (!view) continue;
      if (!view.options.listed) this.unlisted.add(view.options.uri);
      try {
        view.load();
      } catch (error) {
        throw new McpBootstrapError(
          where,
          `the file of the view cannot be read: ${(error as Error).message}`,
        );
      }
      this.warnOf(view, where);
    }
    for (const tool of this.tools.values()) this.assertView(tool, server);
  }

  stages(method: string): Stages | undefined {
    if (method === 'tools/call' && this.tools.size > 0) return { answer: this.watched };
    return method === 'resources/list' && this.unlisted.size > 0 ? { answer: this.listed } : undefined;
  }

  private warnOf(view: AppView, where: string): void {
    for (const { url, option } of view.refusedUrls()) {
      this.logger.warn(
        `${where}: hosts do not load ${url}, because "csp.${option}" of @App does not name its origin`,
      );
    }
    const { known, options } = view;
    const { file = 'the option "html"' } = options;
    for (const { line, code } of known === undefined ? [] : (this.findErrors?.(known) ?? [])) {
      this.logger.warn(`${where}: line ${line} of ${file} is not valid HTML (${code})`);
    }
  }

  private assertView({ definition, where }: ToolEntry, server: McpServerInstance): void {
    const { resourceUri } = (definition._meta!['ui'] ?? {}) as { readonly resourceUri?: string };
    if (resourceUri === undefined) return;
    const problem = problemOf(resourceUri, server);
    if (problem !== undefined) throw new McpBootstrapError(where, `the view "${resourceUri}" ${problem}`);
  }

  private readonly listed: Stage = next => async (call, params) => {
    const result = await next(call, params);
    const resources = result['resources'] as { readonly uri: string }[];
    return { ...result, resources: resources.filter(({ uri }) => !this.unlisted.has(uri)) };
  };

  /** Warns of a result that says nothing to a model, and to a client without views. */
  private readonly watched: Stage = next => async (call, params) => {
    const result = await next(call, params);
    const name = params['name'] as string;
    const tool = this.tools.get(name);
    if (tool && !this.warned.has(name) && isEmpty(result)) {
      this.warned.add(name);
      this.logger.warn(
        `${tool.where}: its result has no text, so that models, and clients without views, learn nothing from it`,
      );
    }
    return result;
  };
}

function problemOf(uri: string, { catalog }: McpServerInstance): string | undefined {
  const view = catalog.resources.get(uri);
  if (!view) return 'does not exist: declare it with @App({ uri })';
  const { mimeType } = view.definition;
  if (mimeType === APP_MIME_TYPE) return undefined;
  return `is a resource of the type ${mimeType ?? 'text/plain'}, and has to be "${APP_MIME_TYPE}"`;
}

function isEmpty({ content, structuredContent, isError }: Result): boolean {
  if (isError === true || !Array.isArray(content)) return false;
  const blocks = content as readonly { readonly type: string; readonly text?: string }[];
  return structuredContent !== undefined
    ? blocks.length === 0
    : blocks.every(({ type, text }) => type === 'text' && text?.trim() === '');
}
