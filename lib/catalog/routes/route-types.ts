import type { ApplicationConfig } from '@nestjs/core';
import type { HandlerTarget } from '../../execution/handler-target.js';
import type { CompiledSchema, JsonSchema, SchemaLike } from '../../schema/types.js';

/** A part of the HTTP request. */
export type Place = 'path' | 'query' | 'body';

/** A tool's argument, and where the route reads it. */
export interface RouteArgument {
  readonly place: Place;
  /** Name in the request; undefined for the body as a whole. */
  readonly key: string | undefined;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** Whether the pipes of the route check the value, or the check of the whole query or body does. */
  readonly isChecked: boolean;
  /** Checks the value instead of `schema`, unless it is checked. */
  readonly check?: CompiledSchema;
}

export interface NamedArgument extends RouteArgument {
  readonly name: string;
}

/** A whole query or body, whose properties become arguments. */
export interface WholePart {
  readonly place: Place;
  readonly source?: SchemaLike;
  readonly schema: CompiledSchema;
  /** Checks what the pipes of the route do not check of it. */
  readonly check?: CompiledSchema;
}

/** The input of a route: its path, query and body in one flat object. */
export interface RouteInput {
  /** The class of the body, if the input consists only of it. */
  readonly source?: SchemaLike;
  /** Its check returns the arguments as they are, since the pipes of the route convert them. */
  readonly schema: CompiledSchema;
  readonly args: readonly NamedArgument[];
  /** The part that takes arguments which are not in `args`. */
  readonly rest?: Place;
}

/** The method of a route, with the application's configuration. */
export interface RouteSource {
  readonly target: HandlerTarget;
  readonly config: ApplicationConfig;
}
