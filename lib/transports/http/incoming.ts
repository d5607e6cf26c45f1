import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Body } from './read-body.js';

/** One HTTP request, as the platform, Node and the body gate know it. */
export interface Incoming {
  /** The platform's request and response. */
  readonly request: object;
  readonly response: object;
  /** Node's. */
  readonly rawRequest: IncomingMessage;
  readonly rawResponse: ServerResponse;
  /** The body of a POST. */
  readonly body?: Body;
  readonly authInfo?: AuthInfo;
  /** The caller in the limits for each caller; see `limitKeyOf`. */
  readonly caller: string;
}
