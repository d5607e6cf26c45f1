import { Args, Ctx, UriParams } from '../decorators/params.decorator.js';
import type { HandlerKind } from '../decorators/handler-options.js';
import type { HandlerTarget, Method } from '../execution/handler-target.js';

/** The parameter decorators that stand for the parameters of a runtime handler's function. */
const PARAMETERS: Partial<Record<HandlerKind, readonly ParameterDecorator[]>> = {
  tool: [Args(), Ctx()],
  prompt: [Args(), Ctx()],
  'resource template': [UriParams(), Ctx()],
};

/** Creates a class with one method for a function, so that it runs like a method of a provider. */
export function runtimeTarget(
  kind: HandlerKind,
  { name, uri }: { name?: string; uri?: string },
  handler: Method,
): HandlerTarget {
  class RuntimeHandler {}
  const { prototype } = RuntimeHandler;
  const methodName = name ?? (handler.name || (uri ?? kind));
  const method: Method = (...args) => handler(...args);
  Object.defineProperty(method, 'name', { value: methodName });
  Object.defineProperty(method, 'length', { value: handler.length });
  Object.defineProperty(prototype, methodName, { value: method });
  for (const key of Reflect.getMetadataKeys(handler) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), method);
  }
  PARAMETERS[kind]?.forEach((decorate, index) => decorate(prototype, methodName, index));
  return { instance: new RuntimeHandler(), methodName, handlerClass: RuntimeHandler, moduleKey: '' };
}
