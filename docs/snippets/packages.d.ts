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
