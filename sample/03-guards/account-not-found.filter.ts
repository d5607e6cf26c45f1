import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';

export class AccountNotFoundError extends Error {
  constructor(readonly id: string) {
    super(`Account ${id} does not exist`);
  }
}

/** One filter for both: a response for REST, a result for an MCP handler. */
@Catch(AccountNotFoundError)
export class AccountNotFoundFilter implements ExceptionFilter {
  catch({ message }: AccountNotFoundError, host: ArgumentsHost) {
    if (host.getType<string>() === 'mcp')
      return { content: [{ type: 'text', text: message }], isError: true };
    return host.switchToHttp().getResponse<Response>().status(404).json({ message });
  }
}
