// Packages of the platforms, which the snippets name and this project does not install.
declare module '@codegenie/serverless-express' {
  type Handler = (event: unknown, context: unknown) => Promise<unknown>;
  export default function serverlessExpress(options: { app: unknown }): Handler;
}

declare module '@google-cloud/functions-framework' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  type Listener = (
    request: IncomingMessage,
    response: ServerResponse,
  ) => unknown;
  export function http(name: string, listener: Listener): void;
}

declare module '@temporalio/client' {
  interface StartOptions {
    readonly taskQueue: string;
    readonly workflowId: string;
    readonly args: readonly unknown[];
    readonly workflowIdConflictPolicy?: 'FAIL' | 'USE_EXISTING';
  }

  export class Connection {
    static connect(options: { readonly address: string }): Promise<Connection>;
  }

  export class Client {
    constructor(options: { readonly connection: Connection });
    readonly workflow: {
      start(workflow: string, options: StartOptions): Promise<object>;
    };
  }
}

declare module '@temporalio/worker' {
  interface WorkerOptions {
    readonly taskQueue: string;
    readonly workflowsPath: string;
    readonly activities: object;
  }

  export class Worker {
    static create(options: WorkerOptions): Promise<Worker>;
    run(): Promise<void>;
  }
}

declare module '@temporalio/workflow' {
  export function proxyActivities<Activities>(options: {
    readonly startToCloseTimeout: string;
  }): Activities;
}
