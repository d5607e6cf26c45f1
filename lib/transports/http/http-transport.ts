import type { Server } from 'node:net';
import type { Type } from '@nestjs/common';
import type { AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import type { Subscription } from 'rxjs';
import { McpBootstrapError } from '../../exceptions/mcp-bootstrap.error.js';
import type { ResolvedHttpOptions } from '../../server/server-options.js';
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
    private readonly host: McpServerInstance,
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
      this.cors.install(adapter);
      gate.install(adapter);
    });
  }

  /** Undefined in an application without HTTP, such as `createApplicationContext` creates. */
  private get adapter(): AbstractHttpAdapter | undefined {
    return (this.adapterHost.httpAdapter as AbstractHttpAdapter | null | undefined) ?? undefined;
  }

  /** @param paths the paths of Nest's route */
  mount(paths: readonly string[]): void {
    mount(this.controller, this.http);
    this.slot.gate?.watch(paths);
    this.cors.watch(paths);
    this.host.paths = paths;
  }

  /** @throws McpBootstrapError for an adapter that cannot be used; RxJS would swallow an error in the constructor */
  async open(): Promise<void> {
    const { adapter } = this;
    if (adapter && !canBeServed(adapter)) {
      throw new McpBootstrapError(
        `McpModule.forRoot({ name: ${JSON.stringify(this.host.options.name)} })`,
        `the HTTP adapter "${adapter.getType()}" has neither "addHook" nor "use" on its instance; use an adapter over Node's requests, such as Express or Fastify, or set "http" to false`,
      );
    }
    this.slot.endpoint = new HttpEndpoint(this.host, this.http);
    const server = this.adapterHost.httpAdapter?.getHttpServer() as Partial<Server> | undefined;
    if (server?.on) this.connections = Connections.of(server as Server);
    await this.slot.endpoint.open();
  }

  /** Waits for running calls up to the server's `shutdownTimeoutMs`, then ends everything. */
  async close(): Promise<void> {
    this.installed.unsubscribe();
    const { running, options } = this.host;
    const deadline = performance.now() + options.shutdownTimeoutMs;
    running.close();
    const handedOver = this.slot.endpoint?.handOver();
    this.host.reportEnded(await running.shutDown(options.shutdownTimeoutMs));
    await handedOver;
    await Promise.all([
      running.idle(SHUTDOWN_GRACE_MS),
      this.slot.endpoint?.close(Math.max(SHUTDOWN_GRACE_MS, deadline - performance.now())),
    ]);
    this.connections?.close(deadline - performance.now());
  }
}
