import { Injectable } from '@nestjs/common';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { McpServerHost } from './mcp-server-host.js';

/** All servers of the application, by name. */
@Injectable()
export class McpServers {
  private readonly hosts = new Map<string, McpServerHost>();

  /** @throws McpBootstrapError for a second server of one name, on one path, or on stdio */
  register(host: McpServerHost): void {
    const { name, http, stdio } = host.options;
    const where = `McpModule.forRoot({ name: ${JSON.stringify(name)} })`;
    if (this.hosts.has(name)) {
      throw new McpBootstrapError(
        where,
        'another server has this name; give each server a "name" of its own',
      );
    }
    for (const { options } of this.hosts.values()) {
      if (
        http &&
        options.http &&
        samePath(http.path, options.http.path) &&
        http.version === options.http.version
      ) {
        throw new McpBootstrapError(
          where,
          `"${options.name}" is served at ${http.path} already; give each server an "http.path" of its own`,
        );
      }
      if (stdio && options.stdio) {
        throw new McpBootstrapError(where, `"${options.name}" has stdio already; only one server can`);
      }
    }
    this.hosts.set(name, host);
  }

  /** The server of that name; without a name the first one, in the order of the modules. */
  get(name?: string): McpServerHost | undefined {
    return name === undefined ? this.hosts.values().next().value : this.hosts.get(name);
  }

  get names(): string[] {
    return [...this.hosts.keys()];
  }

  all(): Iterable<McpServerHost> {
    return this.hosts.values();
  }
}

const samePath = (a: string, b: string): boolean => trim(a) === trim(b);
const trim = (path: string): string => path.replace(/^\/+|\/+$/g, '').toLowerCase();
