import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { ServerResponse } from 'node:http';

const logger = new Logger('McpModule');

interface Reply {
  readonly raw?: ServerResponse;
  readonly sent?: boolean;
  getHeaders(): Record<string, number | string | string[] | undefined>;
}

/**
 * Answers an error of a guard, middleware or interceptor of the route. It keeps the HTTP status, so that a client
 * starts to log in at a 401. The body becomes a JSON-RPC error.
 */
@Catch()
export class JsonRpcExceptionFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<ServerResponse & Reply>();
    const raw = response.raw ?? response;
    const known = exception instanceof HttpException;
    const status = known ? exception.getStatus() : 500;
    if (!known)
      logger.error('The MCP endpoint failed', exception instanceof Error ? exception.stack : exception);
    if (raw.headersSent) {
      raw.end();
      return;
    }
    const message = known ? exception.message : 'Internal server error';
    const code = status >= 500 ? -32603 : -32000;
    const text = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
    const headers = { ...response.getHeaders(), 'content-type': 'application/json' };
    if (response.raw) (response as unknown as { hijack(): void }).hijack();
    raw.writeHead(status, headers as Record<string, string>).end(text);
  }
}
