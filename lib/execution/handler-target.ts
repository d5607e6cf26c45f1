import type { Type } from '@nestjs/common';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';

/** Types of TypeScript's metadata that are not classes of the application. */
const NO_CLASSES = new Set<unknown>([
  undefined,
  Object,
  Array,
  Function,
  Promise,
  Map,
  Set,
  Symbol,
  BigInt,
  Date,
  String,
  Number,
  Boolean,
]);

export const isDto = (type: unknown): type is Type => !NO_CLASSES.has(type);

export type Wrapper = InstanceWrapper;

export interface HandlerTarget {
  readonly instance: object;
  readonly methodName: string;
  readonly handlerClass: Type;
  /** The key of the module whose enhancers apply. */
  readonly moduleKey: string;
  readonly wrapper?: Wrapper;
}

export type Method = (...args: unknown[]) => unknown;

export const methodOf = (instance: object, name: string): Method =>
  (instance as Record<string, Method>)[name];

/**
 * The method of the class, with its metadata. The instance may have a replaced method, from Nest's `instrument` option.
 */
export const declaredMethodOf = ({
  instance,
  methodName,
}: Pick<HandlerTarget, 'instance' | 'methodName'>): Method =>
  methodOf(Object.getPrototypeOf(instance) as object, methodName);

/** Empty if the build does not emit decorator metadata. */
export const paramTypesOf = ({ handlerClass, methodName }: HandlerTarget): Type[] =>
  (Reflect.getMetadata('design:paramtypes', handlerClass.prototype as object, methodName) ?? []) as Type[];

/** `Class.method`, for messages. */
export const describeTarget = ({ handlerClass, methodName }: HandlerTarget): string =>
  `${handlerClass.name}.${methodName}`;
