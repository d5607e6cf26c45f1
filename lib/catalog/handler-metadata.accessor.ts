import { HANDLER_METADATA } from '../decorators/metadata.js';
import type { HandlerMetadata } from '../decorators/handler-options.js';

/** What the decorators declared on a method, in the order in which they stand. */
export const readHandlers = (method: object): readonly HandlerMetadata[] =>
  (Reflect.getMetadata(HANDLER_METADATA, method) ?? []) as HandlerMetadata[];
