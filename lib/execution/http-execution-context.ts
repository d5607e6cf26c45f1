import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { shieldResponse } from './response-shield.js';

/** Stands in for a controller, to guards that look for metadata. */
class NoController {}
const noHandler = () => undefined;

/** The context of a guard that looks at an HTTP request and nothing else. */
export const httpExecutionContext = (request: object, response: object): ExecutionContext =>
  new ExecutionContextHost([request, shieldResponse(response)], NoController, noHandler);
