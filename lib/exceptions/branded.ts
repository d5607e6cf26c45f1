/**
 * Makes `instanceof` also accept the instances of another copy of the library in the process, such as its CommonJS and its ES
 * build. Call it in a static block of the class.
 */
export function branded(type: abstract new (...args: never[]) => object, name: string): void {
  const brand = Symbol.for(`nestjs-mcp:${name}`);
  Object.defineProperty(type.prototype, brand, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown) {
      // A subclass inherits this method, but not the brand.
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this as never, value);
      return typeof value === 'object' && value !== null && brand in value;
    },
  });
}
