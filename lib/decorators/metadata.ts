/** Where `@Tool`, `@Prompt`, … keep their options: a list, on the decorated method. */
export const HANDLER_METADATA = 'nestjs-mcp:handlers';

/** Nest's own key for parameter decorators. `@Args` shares it, so pipes, and REST routes, understand it. */
export const ROUTE_ARGS_METADATA = '__routeArguments__';

/** Nest's key for classes that request-scoped global enhancers (`APP_GUARD` …) are attached to. */
export const ENTRY_PROVIDER_WATERMARK = '__entryProvider__';

/** Nest's `RouteParamtypes.BODY`: the only kind of parameter that `ValidationPipe` validates by default. */
export const ARGS_PARAM = '3';
/** Parameter kinds of this module; no pipe runs on them. */
export const CONTEXT_PARAM = 'mcp:ctx';
export const URI_PARAMS_PARAM = 'mcp:uri';
export const ASK_PARAM = 'mcp:ask';
export const HEADER_PARAM = 'mcp:header';
