import { BadGatewayException, NotImplementedException } from '@nestjs/common';
import {
  MissingRequiredClientCapabilityError,
  type ClientCapabilities,
  type InputRequest,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { missingCapabilities } from './client-capabilities.js';

/** A client that cannot be asked. For the model to read, as whatever goes wrong while a tool runs. */
export class UnsupportedInput extends NotImplementedException {
  constructor() {
    super(
      'This call needs input from the client, which only clients of revision 2026-07-28 can give, and those of 2025 revisions over stdio or with a session',
    );
  }
}

/** Whether something was thrown because the client cannot be asked for it. */
export const isUnaskable = (thrown: unknown): boolean =>
  thrown instanceof UnsupportedInput || thrown instanceof MissingRequiredClientCapabilityError;

/** A client that answers a question with an error, which is the `cause`. It is none of the server's own. */
export class ClientFailed extends BadGatewayException {
  constructor(cause: Error) {
    super(`The client answered with an error: ${cause.message}`, { cause });
  }
}

export const tooManyRounds = (most: number): McpException =>
  new McpException(McpErrorCode.Refused, `The call asked for input in more than ${most} rounds`);

/** @throws MissingRequiredClientCapabilityError (-32021) for requests of a kind that a client did not declare */
export function assertDeclared(requests: readonly InputRequest[], declared?: ClientCapabilities): void {
  const requiredCapabilities = missingCapabilities(requests, declared);
  if (!requiredCapabilities) return;
  // Most clients show the message, and nothing else.
  const names = Object.entries(requiredCapabilities).flatMap(([name, members]) => namesIn(name, members));
  throw new MissingRequiredClientCapabilityError(
    { requiredCapabilities },
    `The call needs input for which the client has not declared the ${names.length > 1 ? 'capabilities' : 'capability'} ${names.join(', ')}`,
  );
}

/** `"elicitation.form"`, or `"roots"` where all of it is missing. */
const namesIn = (name: string, members: object): string[] => {
  const keys = Object.keys(members);
  return keys.length === 0 ? [`"${name}"`] : keys.map(key => `"${name}.${key}"`);
};
