import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { View } from '../../protocol/mcp-call.js';
import type { Body } from './read-body.js';

/** One HTTP request: the objects of the platform and of Node, and the body that the gate read. */
export interface Incoming {
  readonly request: object;
  readonly response: object;
  readonly rawRequest: IncomingMessage;
  readonly rawResponse: ServerResponse;
  readonly body?: Body;
  readonly authInfo?: AuthInfo;
  /** The key of the caller in the limits per caller; see `limitKeyOf`. */
  readonly caller: string;
  readonly view?: View;
}
