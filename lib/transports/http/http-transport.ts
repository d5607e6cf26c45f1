import type { Server } from 'node:net';
import type { Type } from '@nestjs/common';
import type { AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import type { Subscription } from 'rxjs';
import { McpBootstrapError } from '../../exceptions/mcp-bootstrap.error.js';
import type { ResolvedHttpOptions, ResolvedOptions } from '../../server/server-options.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { SHUTDOWN_GRACE_MS } from '../../protocol/running-calls.js';
import { BodyGate } from './body-gate.js';
import { Connections } from './connections.js';
import { CorsGate } from './cors-gate.js';
import { HttpEndpoint } from './http-endpoint.js';
import { mount, type EndpointSlot } from './mcp.controller.js';
import { canBeServed } from './platform.js';

/** Adds a server's endpoint to the application's HTTP server, if the application has one. */
export class HttpTransport {
  private readonly installed: Subscription;
  private readonly cors = new CorsGate();
  private connections?: Connections;

  constructor(
    private readonly options: ResolvedOptions,
    private readonly http: ResolvedHttpOptions,
    private readonly adapterHost: HttpAdapterHost,
    private readonly controller: Type,
    private readonly slot: EndpointSlot,
  ) {
    // Nest refuses a controller class without `@Controller`.
    mount(controller, http);
    const gate = new BodyGate(http.maxBodyBytes, http.bodyTimeoutMs);
    slot.gate = gate;
    // The adapter is available when the application is created, before it registers its own body parsers.
    this.installed = adapterHost.init$.subscribe(() => {
      const { adapter } = this;
      if (!adapter || !canBeServed(adapter)) return;
      gate.install(adapter, this.cors);
    });
  }

  /** Undefined in an application without HTTP, such as `createApplicationContext` creates. */
  private get adapter(): AbstractHttpAdapter | undefined {
    return (this.adapterHost.httpAdapter as AbstractHttpAdapter | null | undefined) ?? undefined;
  }

  /**
   * @param parts the paths of parts of the server, below its path
   * @param paths the paths of Nest's routes
   */
  mount(parts: readonly string[], paths: readonly string[]): void {
    mount(this.controller, this.http, parts);
    this.slot.gate?.watch(paths);
    this.cors.watch(paths);
  }

  /** @throws McpBootstrapError for an adapter that cannot be used; RxJS would swallow an error in the constructor */
  async open(host: McpServerInstance): Promise<void> {
    const { adapter } = this;
    if (adapter && !canBeServed(adapter)) {
      throw new McpBootstrapError(
        `McpModule.forRoot({ name: ${JSON.stringify(this.options.name)} })`,
        `the HTTP adapter "${adapter.getType()}" has neither "addHook" nor "use" on its instance; use an adapter over Node's requests, such as Express or Fastify, or set "http" to false`,
      );
    }
    this.slot.endpoint = new HttpEndpoint(host, this.http);
    const server = this.adapterHost.httpAdapter?.getHttpServer() as Partial<Server> | undefined;
    if (server?.on) this.connections = Connections.of(server as Server);
    await this.slot.endpoint.open();
  }

  /**
   * Waits for running calls up to the server's `shutdownTimeoutMs`, then ends everything.
   * @param host undefined if the start failed before the server was built
   */
  async close(host: McpServerInstance | undefined): Promise<void> {
    this.installed.unsubscribe();
    if (!host) return;
    const { running, options } = host;
    const deadline = performance.now() + options.shutdownTimeoutMs;
    running.close();
    const handedOver = this.slot.endpoint?.handOver();
    host.reportEnded(await running.shutDown(options.shutdownTimeoutMs));
    await handedOver;
    await Promise.all([
      running.idle(SHUTDOWN_GRACE_MS),
      this.slot.endpoint?.close(Math.max(SHUTDOWN_GRACE_MS, deadline - performance.now())),
    ]);
    this.connections?.close(deadline - performance.now());
  }
}
