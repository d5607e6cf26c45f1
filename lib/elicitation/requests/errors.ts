import { BadGatewayException, NotImplementedException } from '@nestjs/common';
import {
  MissingRequiredClientCapabilityError,
  type ClientCapabilities,
  type InputRequest,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import { mayAsk } from '../../protocol/methods.js';

/** Whether the handler of a call can ask the client, by rounds or over a connection that carries requests. */
export const canAsk = ({ method, era, reply }: McpCall): boolean =>
  mayAsk(method) && (era === 'modern' || reply.ask !== undefined);

/** The client cannot be asked for input. The model reads the message, like other failures of a tool. */
export class UnsupportedInput extends NotImplementedException {
  constructor() {
    super(
      'This call needs input from the client; connect with revision 2026-07-28, or with a 2025 revision over stdio or with a session',
    );
  }
}

export const isUnaskable = (thrown: unknown): boolean =>
  thrown instanceof UnsupportedInput || thrown instanceof MissingRequiredClientCapabilityError;

/** The client answered an input request with an error, the `cause`. */
export class ClientFailed extends BadGatewayException {
  constructor(cause: Error) {
    super(`The client answered with an error: ${cause.message}`, { cause });
  }
}

export const tooManyRounds = (most: number): McpException =>
  new McpException(McpErrorCode.Refused, `The call asked for input in more than ${most} rounds`);

export const invalidState = (): McpException =>
  new McpException(McpErrorCode.InvalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  });

type Capabilities = Record<string, Record<string, unknown>>;

/** @throws MissingRequiredClientCapabilityError (-32021) for requests that the client did not declare */
export function assertDeclared(requests: readonly InputRequest[], declared: ClientCapabilities = {}): void {
  const missing: Capabilities = {};
  for (const request of requests) {
    const [name, member] = requiredFor(request);
    const own = (declared as Partial<Capabilities>)[name];
    if (own && (member === undefined || own[member] !== undefined || isImplied(member, own))) continue;
    missing[name] = { ...missing[name], ...(member && { [member]: {} }) };
  }
  const names = Object.entries(missing).flatMap(([name, members]) => namesIn(name, members));
  if (names.length === 0) return;
  // Most clients show only the message.
  throw new MissingRequiredClientCapabilityError(
    { requiredCapabilities: missing },
    `The call needs input for which the client has not declared the ${names.length > 1 ? 'capabilities' : 'capability'} ${names.join(', ')}`,
  );
}

/** The capability and its member that a request needs (specification: client/*, capabilities). */
function requiredFor({ method, params }: InputRequest): readonly [name: string, member?: string] {
  switch (method) {
    case 'elicitation/create':
      return ['elicitation', (params as { mode?: string }).mode === 'url' ? 'url' : 'form'];
    case 'sampling/createMessage': {
      const { tools, toolChoice } = params as { tools?: unknown; toolChoice?: unknown };
      return tools === undefined && toolChoice === undefined ? ['sampling'] : ['sampling', 'tools'];
    }
    case 'roots/list':
      return ['roots'];
  }
}

/** An empty `elicitation` capability has always meant forms. */
const isImplied = (member: string, own: object): boolean =>
  member === 'form' && Object.keys(own).length === 0;

function namesIn(name: string, members: object): string[] {
  const keys = Object.keys(members);
  return keys.length === 0 ? [`"${name}"`] : keys.map(key => `"${name}.${key}"`);
}
