import type { InjectionToken } from '@nestjs/common';

/** Where `@Tool`, `@Prompt`, … keep their options: a list, on the decorated method. */
export const HANDLER_METADATA = 'nestjs-mcp:handlers';

/** Where `@Validator`, `@Mutator` and `@Sink` keep theirs. */
export const INTERCEPTOR_METADATA = 'nestjs-mcp:interceptors';

/** Where `@OnElicitation`, `@OnSampling` and `@OnRoots` keep theirs. */
export const CLIENT_INPUT_METADATA = 'nestjs-mcp:client-inputs';

/** Nest's own key for parameter decorators. `@Args` shares it, so pipes, and REST routes, understand it. */
export const ROUTE_ARGS_METADATA = '__routeArguments__';

/** Nest's key for classes that request-scoped global enhancers (`APP_GUARD` …) are attached to. */
export const ENTRY_PROVIDER_WATERMARK = '__entryProvider__';

/** Nest's key for the scope of a class. */
export const SCOPE_OPTIONS_METADATA = 'scope:options';

/** Where the `@ApiExcludeController()` of `@nestjs/swagger` keeps whether a controller is left out: `[true]`. */
export const SWAGGER_EXCLUDE_METADATA = 'swagger/apiExcludeController';

/** Nest's `RouteParamtypes.BODY`: the only kind of parameter that `ValidationPipe` validates by default. */
export const ARGS_PARAM = '3';
/** Parameter kinds of this module; no pipe runs on them. */
export const CONTEXT_PARAM = 'mcp:ctx';
export const URI_PARAMS_PARAM = 'mcp:uri';
export const ASK_PARAM = 'mcp:ask';
export const HEADER_PARAM = 'mcp:header';

/** What `ExecutionContext.getType()` returns while a handler of this module runs. */
export const MCP_CONTEXT_TYPE = 'mcp';

/** Tokens are strings, so that a CommonJS and an ES copy of this package share them. */
export const MCP_FEATURE: InjectionToken = 'nestjs-mcp:feature';
export const MCP_OPTIONS: InjectionToken = 'nestjs-mcp:options';

/** What answers for a server in the place of the application's handlers. */
export const MCP_UPSTREAM: InjectionToken = 'nestjs-mcp:upstream';

/** `McpServers`, for a copy of this package that has another class of that name. */
export const MCP_SERVERS: InjectionToken = 'nestjs-mcp:servers';

/** What `McpClientModule.register` was given. */
export const MCP_CLIENT_OPTIONS: InjectionToken = 'nestjs-mcp:client-options';

/** The longest that a timer can wait, in milliseconds; past it, it does not wait at all. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
