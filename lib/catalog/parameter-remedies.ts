import { declaredMethodOf, isDto, paramTypesOf, type HandlerTarget } from '../execution/handler-target.js';
import { McpContext } from '../execution/mcp-context.js';

/** The types of named arguments, as authors write them. */
const WORDS = new Map<unknown, string>([
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
  [Date, 'Date'],
]);

/** Whether a parameter of this type needs a decorator, even as the first of a method without decorators. */
export const needsDecorator = (type: unknown): boolean =>
  WORDS.has(type) || type === Array || type === McpContext;

/**
 * The mistake of parameters without a decorator, and how to declare them.
 * @param indexes of the parameters
 * @param hasNamed whether other parameters of the method are named arguments
 */
export function withoutDecorator(
  target: HandlerTarget,
  indexes: readonly number[],
  hasNamed: boolean,
): string {
  const types = paramTypesOf(target);
  const isNamed = hasNamed || indexes.some(index => WORDS.has(types[index]));
  const names = parameterNames(target);
  const declared = indexes.map(index =>
    declaration(names[index] ?? `arg${index + 1}`, types[index], isNamed),
  );
  const numbers = indexes.map(index => index + 1).join(', ');
  const subject = indexes.length === 1 ? `parameter ${numbers} has` : `parameters ${numbers} have`;
  return `${subject} no decorator; write ${declared.join(', ')}`;
}

function declaration(name: string, type: unknown, isNamed: boolean): string {
  if (type === McpContext) return `@Ctx() ${name}: McpContext`;
  if (isDto(type)) return `@Args(${isNamed ? `'${name}'` : ''}) ${name}: ${type.name}`;
  const word = WORDS.get(type);
  return `@Args('${name}') ${name}${word === undefined ? '' : `: ${word}`}`;
}

/** Read from the source of the method, up to the first parameter that is more than a name. */
function parameterNames(target: HandlerTarget): string[] {
  const [, list = ''] = /^[^(]*\(([^)]*)/.exec(String(declaredMethodOf(target))) ?? [];
  const names = list.split(',').map(part => part.trim());
  const other = names.findIndex(name => !/^[\p{L}_$][\p{L}\d_$]*$/u.test(name));
  return other < 0 ? names : names.slice(0, other);
}

/**
 * The reason why the type of a parameter is unknown, with its remedy.
 * @param type what TypeScript's metadata says; undefined without metadata
 */
export function whyUnknown(type: unknown, parameter: string): string {
  if (type === undefined) {
    return 'the build emits no types of parameters. Set "emitDecoratorMetadata" in tsconfig.json and compile with tsc or swc, because tsx and esbuild cannot emit them';
  }
  // What tsc emits for a class that is only imported as a type. Nobody sends a function.
  if (type === Function) {
    return `the class of ${parameter} is imported with "import type", so it does not exist at run time. Write "import" without "type"`;
  }
  return `${parameter} has a type that does not exist at run time: an interface, a type alias or, with swc, a class after "import type". Use a class with class-validator decorators`;
}
