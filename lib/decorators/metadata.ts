/** Key of the options of `@Tool`, `@Prompt` and the other handler decorators: a list on the decorated method. */
export const HANDLER_METADATA = 'nestjs-mcp:handlers';

/** Key that `@Tool(false)` sets to `true` on a method. */
export const NO_TOOL_METADATA = 'nestjs-mcp:no-tool';

/** Key of the options of `@McpExtension`, on a class. */
export const EXTENSION_METADATA = 'nestjs-mcp:extension';
/** Key of the options of `@ExtensionMethod`: a list on the decorated method; `true` on its class. */
export const EXTENSION_METHOD_METADATA = 'nestjs-mcp:extension-methods';

/** Key of the guards of `@Visible`, on classes and methods. */
export const VISIBLE_METADATA = 'nestjs-mcp:visible';
/** Key of the scopes of `@RequireScopes`. */
export const SCOPES_METADATA = 'nestjs-mcp:scopes';
/** Key that `@AllowAnonymous` sets to `true`. */
export const ANONYMOUS_METADATA = 'nestjs-mcp:anonymous';

/** Nest's key for the guards of classes and methods. */
export const GUARDS_METADATA = '__guards__';

/** Nest's own key for parameter decorators. `@Args` shares it, so that pipes and REST routes understand it. */
export const ROUTE_ARGS_METADATA = '__routeArguments__';

/** Nest attaches request-scoped global enhancers (such as `APP_GUARD`) to classes with this key. */
export const ENTRY_PROVIDER_WATERMARK = '__entryProvider__';

/** Nest's `RouteParamtypes.BODY`, the only kind of parameter that `ValidationPipe` validates by default. */
export const ARGS_PARAM = '3';
/** Nest's mark of custom parameter decorators. */
export const CUSTOM_PARAM = '__customRouteArgs__';
/**
 * Parameter kinds of this module; pipes do not run on them. If HTTP reaches the method as a route, Nest reads them as
 * custom decorators, whose value is undefined.
 */
export const CONTEXT_PARAM = `mcp:ctx${CUSTOM_PARAM}`;
export const URI_PARAMS_PARAM = `mcp:uri${CUSTOM_PARAM}`;
export const ASK_PARAM = `mcp:ask${CUSTOM_PARAM}`;
export const HEADER_PARAM = `mcp:header${CUSTOM_PARAM}`;

/**
 * @param what names the decorated method in messages
 * @throws TypeError for a static method
 */
export function declareOnMethod<T>(metadataKey: string, declaration: T, what: string): MethodDecorator {
  return (target, key, descriptor) => {
    if (typeof target === 'function') {
      throw new TypeError(
        `${target.name}.${String(key)}: a static method cannot be ${what}; remove "static" and list ${target.name} in providers`,
      );
    }
    const method = descriptor.value as object;
    const declared = (Reflect.getOwnMetadata(metadataKey, method) ?? []) as T[];
    Reflect.defineMetadata(metadataKey, [declaration, ...declared], method);
    // Nest attaches request-scoped global enhancers only to controllers and "entry providers".
    Reflect.defineMetadata(ENTRY_PROVIDER_WATERMARK, true, target.constructor);
  };
}
