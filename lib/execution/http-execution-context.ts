import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { shieldResponse } from './response-shield.js';

/** Stands in for a controller when a guard reads metadata. */
class NoController {}
const noHandler = () => undefined;

/** The context for a guard that sees only the HTTP request. */
export const httpExecutionContext = (request: object, response: object): ExecutionContext =>
  new ExecutionContextHost([request, shieldResponse(response)], NoController, noHandler);
