import { NotImplementedException, type HttpException } from '@nestjs/common';
import {
  MissingRequiredClientCapabilityError,
  type ClientCapabilities,
  type InputRequest,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { missingCapabilities } from './client-capabilities.js';

/** For the model to read, as whatever goes wrong while a tool runs. */
export const unsupported = (): HttpException =>
  new NotImplementedException(
    'This call needs input from the client, which only clients of revision 2026-07-28 can give, and those of 2025 revisions over stdio or with a session',
  );

export const tooManyRounds = (most: number): McpException =>
  new McpException(McpErrorCode.Refused, `The call asked for input in more than ${most} rounds`);

/** @throws MissingRequiredClientCapabilityError (-32021) for requests of a kind that a client did not declare */
export function assertDeclared(requests: readonly InputRequest[], declared?: ClientCapabilities): void {
  const requiredCapabilities = missingCapabilities(requests, declared);
  if (!requiredCapabilities) return;
  throw new MissingRequiredClientCapabilityError(
    { requiredCapabilities },
    'The call needs input for which the client has not declared the capability',
  );
}
