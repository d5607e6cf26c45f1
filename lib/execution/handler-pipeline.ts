import {
  ForbiddenException,
  type ArgumentMetadata,
  type CanActivate,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import type { ExternalExceptionsHandler } from '@nestjs/core/exceptions/external-exceptions-handler.js';
import type { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { EMPTY, isObservable, lastValueFrom } from 'rxjs';
import { isRoundEnd } from '../elicitation/requests/input-required.exception.js';
import { isUnaskable } from '../elicitation/requests/errors.js';
import { isAsyncIterable, isThenable, valuesOf } from '../util/async-iterable.js';
import { CallCancelled, isCancellation } from '../exceptions/call-cancelled.js';
import { GuardDenied } from '../exceptions/guard-denied.js';
import { askFor } from './handler-asks.js';
import type { HandlerParam } from './handler-params.js';
import type { HandlerTarget, Method } from './handler-target.js';
import { contextTypeOf, createExecutionContext, type HandlerCall } from './mcp-execution-context.js';
import { guardsConsumer, interceptorsConsumer } from './nest-enhancers.js';
import { lastValue } from './observe.js';

/** Validates and converts the input of the client. Runs after the guards. */
export type Prepare = (data: unknown) => unknown;

export interface PipelineParam extends HandlerParam {
  /** The pipes for the value: global, class, method and parameter pipes, in Nest's order. */
  readonly transforms: readonly PipeTransform[];
}

/** All resolved parts that a handler needs to run. */
export interface Pipeline {
  readonly target: HandlerTarget;
  /** The method of the class, with its metadata. */
  readonly method: Method;
  readonly guards: CanActivate[];
  /** The guards of `@Visible`. */
  readonly visible: CanActivate[];
  readonly interceptors: NestInterceptor[];
  /** The parameters in groups. The parameters of a group are resolved in parallel, one group after the other. */
  readonly params: readonly (readonly PipelineParam[])[];
  /** Whether all parameters are available at once, without pipes. */
  readonly isImmediate: boolean;
  readonly filters: ExternalExceptionsHandler;
  readonly prepare: Prepare;
  /** Makes the arguments for a method without parameter decorators. */
  readonly positional: (data: unknown, call: HandlerCall) => unknown[];
}

/**
 * Runs one call: guards, interceptors, validation, pipes and the method, with exception filters around them.
 * @throws errors that no filter handles, `GuardDenied` for a guard's refusal, and `CallCancelled`
 */
export async function runPipeline(pipeline: Pipeline, call: HandlerCall): Promise<unknown> {
  const { target, method, guards, interceptors } = pipeline;
  // Created on demand, because most handlers have no enhancer that reads it.
  let known: ExecutionContextHost | undefined;
  const host = () => (known ??= createExecutionContext(call, target.handlerClass, method));
  let guarded = false;
  try {
    if (call.route) await call.route.runMiddleware();
    if (guards.length > 0 && !call.lifecycle?.isAdmitted)
      await activate(guards, host(), target.instance, method, contextTypeOf(call));
    guarded = true;
    const result: unknown = await (interceptors.length === 0
      ? invoke(pipeline, call, host)
      : interceptorsConsumer.intercept(
          interceptors,
          [host()],
          target.instance,
          method,
          async () => invoke(pipeline, call, host),
          contextTypeOf(call),
        ));
    const value = isObservable(result)
      ? await lastValue(result, call.context.signal, (value, index) => call.context.progressOf(value, index))
      : result;
    return call.route ? call.route.resultOf(value) : value;
  } catch (error) {
    // Filters see only errors. Asking the client is not an error, and `UnsupportedInput` is not a guard's refusal.
    if (isRoundEnd(error) || isUnaskable(error)) throw error;
    if (isCancellation(error, call.context.signal)) throw new CallCancelled();
    return await filter(pipeline, host(), guarded ? error : new GuardDenied(error), call);
  } finally {
    call.route?.end();
  }
}

/**
 * Runs the guards for a request that does not call the handler.
 * @throws GuardDenied
 */
export async function runGuards({ target, method, guards }: Pipeline, call: HandlerCall): Promise<void> {
  const host = createExecutionContext(call, target.handlerClass, method);
  try {
    await call.route?.runMiddleware();
    await activate(guards, host, target.instance, method, contextTypeOf(call));
  } catch (error) {
    throw new GuardDenied(error);
  }
}

/** A guard of `@Visible` that hides a handler, and what it threw, if it did. */
export interface HidingGuard {
  /** Undefined if the guards could not be made. */
  readonly guard?: CanActivate;
  readonly error?: unknown;
}

/** The first guard of `@Visible` that hides the handler from a caller. */
export async function hidingGuardOf(
  { target, method, visible }: Pipeline,
  call: HandlerCall,
): Promise<HidingGuard | undefined> {
  const host = createExecutionContext(call, target.handlerClass, method);
  for (const guard of visible) {
    try {
      const shows = await guardsConsumer.tryActivate(
        [guard],
        [host],
        target.instance,
        method,
        contextTypeOf(call),
      );
      if (!shows) return { guard };
    } catch (error) {
      return { guard, error };
    }
  }
  return undefined;
}

async function activate(
  guards: CanActivate[],
  host: ExecutionContextHost,
  instance: object,
  method: Method,
  type: string,
): Promise<void> {
  if (await guardsConsumer.tryActivate(guards, [host], instance, method, type)) return;
  throw new ForbiddenException('Forbidden resource');
}

/** Runs the method at once if nothing before it has to be awaited, because `await` takes longer than most methods. */
function invoke(pipeline: Pipeline, call: HandlerCall, host: () => ExecutionContextHost): unknown {
  // The round has ended, and a Nest interceptor retries: the method must not run again.
  if (call.round?.enter() === false) return EMPTY;
  const data = pipeline.prepare(call.data);
  if (call.lifecycle || !pipeline.isImmediate || isThenable(data)) {
    return invokeLater(pipeline, data, call, host);
  }
  return enter(pipeline, argumentsOf(pipeline, data, call, host), call);
}

async function invokeLater(
  pipeline: Pipeline,
  prepared: unknown,
  call: HandlerCall,
  host: () => ExecutionContextHost,
): Promise<unknown> {
  const data = await prepared;
  const { lifecycle, round } = call;
  const args = pipeline.isImmediate
    ? argumentsOf(pipeline, data, call, host)
    : await resolved(pipeline.params, data, call, host);
  if (lifecycle) await lifecycle.onEnter(round && (() => round.record()));
  return enter(pipeline, args, call);
}

function enter({ target }: Pipeline, args: unknown[], { round }: HandlerCall): unknown {
  const method = (target.instance as Record<string, Method>)[target.methodName];
  return round
    ? round.watch(() => observed(method.apply(target.instance, args)))
    : observed(method.apply(target.instance, args));
}

function argumentsOf(
  { params, positional }: Pipeline,
  data: unknown,
  call: HandlerCall,
  host: () => ExecutionContextHost,
): unknown[] {
  if (params.length === 0) return positional(data, call);
  const args: unknown[] = [];
  for (const group of params) for (const param of group) args[param.index] = valueOf(param, data, call, host);
  return args;
}

/** Resolves the parameters of a group in parallel. */
async function resolved(
  groups: Pipeline['params'],
  data: unknown,
  call: HandlerCall,
  host: () => ExecutionContextHost,
): Promise<unknown[]> {
  const args: unknown[] = [];
  for (const group of groups) {
    const fill = async (param: PipelineParam) => {
      args[param.index] = await transform(param, await valueOf(param, data, call, host));
    };
    await Promise.all(group.map(fill));
  }
  return args;
}

/** Whether a parameter is available at once, without pipes. */
export const isImmediate = ({ kind, transforms }: PipelineParam): boolean =>
  kind !== 'ask' && kind !== 'custom' && transforms.length === 0;

/** Turns an async iterable, also in a promise, into an Observable. Other results stay as they are. */
function observed(result: unknown): unknown {
  if (isThenable(result)) return Promise.resolve(result).then(observed);
  return isAsyncIterable(result) ? valuesOf(result) : result;
}

function valueOf(
  param: HandlerParam,
  data: unknown,
  call: HandlerCall,
  host: () => ExecutionContextHost,
): unknown {
  switch (param.kind) {
    case 'args':
      return pick(data, param.data);
    case 'context':
      return call.context;
    case 'uri':
      return pick(call.variables === undefined ? undefined : data, param.data);
    case 'ask':
      return askFor(param, data, call);
    case 'header':
      return call.context.headerParam(param.data as string);
    case 'custom':
      return param.factory?.(param.data, host());
    case 'route':
      return call.route?.argument(param);
  }
}

const pick = (data: unknown, name: unknown): unknown =>
  typeof name !== 'string'
    ? data
    : typeof data === 'object' && data !== null && Object.hasOwn(data, name)
      ? (data as Record<string, unknown>)[name]
      : undefined;

async function transform(
  { kind, metatype, data, schema, transforms, paramtype }: PipelineParam,
  value: unknown,
): Promise<unknown> {
  let result = value;
  const metadata = {
    type: kind === 'custom' ? 'custom' : (PIPED_ROUTE_PARAMS.get(paramtype) ?? 'body'),
    metatype,
    data: data as string | undefined,
    // Nest 11 does not have the field.
    ...(schema !== undefined && { schema }),
  } as ArgumentMetadata;
  for (const pipe of transforms) result = await pipe.transform(result, metadata);
  return result;
}

/**
 * The first filter that catches the error sets the result. If the filter returns nothing, the error is thrown. The
 * filter of a route may answer through its response.
 */
async function filter(
  pipeline: Pipeline,
  host: ExecutionContextHost,
  error: unknown,
  { route }: HandlerCall,
): Promise<unknown> {
  const denied = error instanceof GuardDenied;
  const original = denied ? error.cause : error;
  try {
    const handled: unknown = await pipeline.filters.invokeCustomFilters(original, host);
    const value: unknown = isObservable(handled)
      ? await lastValueFrom(handled, { defaultValue: undefined })
      : handled;
    // What it answered counts: a filter of a route usually returns its response.
    if (route?.hasAnswered) return route.resultOf(value);
    if (value !== undefined && value !== null) return value;
  } catch (thrown) {
    keepCause(thrown, original);
    throw denied ? new GuardDenied(thrown) : thrown;
  }
  throw error;
}

/** If a filter fails, its error keeps the original error as its cause. */
function keepCause(thrown: unknown, cause: unknown): void {
  if (!(thrown instanceof Error) || thrown === cause || thrown.cause !== undefined) return;
  if (Object.isExtensible(thrown))
    Object.defineProperty(thrown, 'cause', { value: cause, writable: true, configurable: true });
}

/** What pipes are told of the parameters of a route, by Nest's number of the decorator. */
const PIPED_ROUTE_PARAMS: ReadonlyMap<number | undefined, ArgumentMetadata['type']> = new Map([
  [3, 'body'],
  [4, 'query'],
  [5, 'param'],
]);

/** Whether pipes run on a parameter. They do not run on the context, the URI or a header. */
export const isPiped = ({ kind, paramtype }: HandlerParam): boolean =>
  kind === 'args' || kind === 'custom' || PIPED_ROUTE_PARAMS.has(paramtype);
