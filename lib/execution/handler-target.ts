import type { Type } from '@nestjs/common';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';

/** Nest's record of a provider or controller. */
export type Wrapper = InstanceWrapper;

/** A method that serves a handler, and where Nest keeps it. */
export interface HandlerTarget {
  readonly instance: object;
  readonly methodName: string;
  readonly handlerClass: Type;
  /** Key of the module that holds it, where guards and other enhancers are looked up. */
  readonly moduleKey: string;
  /** Nest's record of the provider or controller; absent for a handler added at run time. */
  readonly wrapper?: Wrapper;
}

export type Method = (...args: unknown[]) => unknown;

export const methodOf = (instance: object, name: string): Method =>
  (instance as Record<string, Method>)[name];

/**
 * The method as its class declares it, with its metadata. An `instrument` of the application may have put another one on the
 * instance, which is the one to call.
 */
export const declaredMethodOf = ({
  instance,
  methodName,
}: Pick<HandlerTarget, 'instance' | 'methodName'>): Method =>
  methodOf(Object.getPrototypeOf(instance) as object, methodName);

/** The types of a method's parameters, as TypeScript's decorator metadata has them; none without that. */
export const paramTypesOf = ({ handlerClass, methodName }: HandlerTarget): Type[] =>
  (Reflect.getMetadata('design:paramtypes', handlerClass.prototype as object, methodName) ?? []) as Type[];

/** `Class.method`, as error messages name it. */
export const describeTarget = ({ handlerClass, methodName }: HandlerTarget): string =>
  `${handlerClass.name}.${methodName}`;
