import { SetMetadata } from '@nestjs/common';
import { extendMetadata } from '../decorators/extend-metadata.js';
import { declaredMethodOf, type HandlerTarget } from '../execution/handler-target.js';

const TOOLSETS_METADATA = 'nestjs-mcp:toolsets';

/** Stands for all sets, and for the tools that only read. */
export const ALL = '*';

/** The names that a URL and a header can hold in a list. */
const NAME = /^[\w.-]{1,64}$/;

/**
 * Adds a handler, or all handlers of a class, to sets that have URLs of their own: `/mcp/x/billing`. Sets of a class and
 * of its methods add up. Needs `McpToolsetsModule`.
 * @throws TypeError for a name with other characters than letters, digits, `_`, `.` and `-`
 * @example
 * ```ts
 * @Toolset('billing')
 * @Injectable()
 * export class InvoiceTools {
 *   @Tool({ annotations: { readOnlyHint: true } })
 *   listInvoices() {
 *     return this.invoices.all();
 *   }
 * }
 * ```
 */
export function Toolset(...names: string[]): MethodDecorator & ClassDecorator {
  const wrong = names.find(name => !NAME.test(name));
  if (wrong !== undefined) throw new TypeError(`@Toolset: ${JSON.stringify(wrong)} is not the name of a set`);
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    extendMetadata(TOOLSETS_METADATA, (descriptor?.value as object | undefined) ?? target, names);
  };
}

export const InAllToolsets = (): ClassDecorator => SetMetadata(TOOLSETS_METADATA, [ALL]);

export function toolsetsOf(target: HandlerTarget): readonly string[] {
  return [target.handlerClass, declaredMethodOf(target)].flatMap(
    owner => (Reflect.getMetadata(TOOLSETS_METADATA, owner) ?? []) as string[],
  );
}
