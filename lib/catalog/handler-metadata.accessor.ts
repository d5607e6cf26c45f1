import { HANDLER_METADATA } from '../constants.js';
import type { HandlerMetadata } from '../decorators/handler-options.js';

export const readHandlers = (method: object): readonly HandlerMetadata[] =>
  (Reflect.getMetadata(HANDLER_METADATA, method) ?? []) as HandlerMetadata[];
