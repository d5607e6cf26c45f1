import type { Type } from '@nestjs/common';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';

/** TypeScript's metadata for types that are not an author's class. */
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
  /** The module whose enhancers apply. */
  readonly moduleKey: string;
  readonly wrapper?: Wrapper;
}

export type Method = (...args: unknown[]) => unknown;

export const methodOf = (instance: object, name: string): Method =>
  (instance as Record<string, Method>)[name];

/** The class's method with its metadata. The instance may have another one, of an application's `instrument`. */
export const declaredMethodOf = ({
  instance,
  methodName,
}: Pick<HandlerTarget, 'instance' | 'methodName'>): Method =>
  methodOf(Object.getPrototypeOf(instance) as object, methodName);

/** Empty without TypeScript's decorator metadata. */
export const paramTypesOf = ({ handlerClass, methodName }: HandlerTarget): Type[] =>
  (Reflect.getMetadata('design:paramtypes', handlerClass.prototype as object, methodName) ?? []) as Type[];

/** `Class.method`, for messages. */
export const describeTarget = ({ handlerClass, methodName }: HandlerTarget): string =>
  `${handlerClass.name}.${methodName}`;
