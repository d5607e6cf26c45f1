import { createRequire } from 'node:module';
import type * as Zod from 'zod';

// As CommonJS, like the package and its SDK here: an application loads zod once.
const { z } = createRequire(import.meta.url)('zod') as typeof Zod;

/** The tool that is called. */
const ECHO = {
  name: 'echo',
  description: 'Says what it was told',
  schema: z.object({ text: z.string() }),
};

/** An ordinary tool, of which there can be many. */
const SEARCH = z.object({
  query: z.string().min(1).max(200).describe('Words to look for'),
  category: z.enum(['books', 'music', 'games']).describe('Where to look'),
  limit: z.int().min(1).max(100).optional().describe('The most results to return'),
  available: z.boolean().optional().describe('Whether to leave out what is sold out'),
});

export interface ServedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Zod.z.ZodObject;
}

/** The first is the echo tool. */
export const toolsOf = (count: number): ServedTool[] => [
  ECHO,
  ...Array.from({ length: count - 1 }, (_, index) => ({
    name: `search_${index}`,
    description: `Searches shelf ${index} of the catalogue, and returns the products found there`,
    schema: SEARCH,
  })),
];

export const textResult = (text: string) => ({ content: [{ type: 'text' as const, text }] });

/** Has a class get a method with decorators, as if they stood in its source. */
export function addMethod(
  target: object,
  name: string,
  run: (...args: never[]) => unknown,
  ...decorators: MethodDecorator[]
): void {
  Object.defineProperty(target, name, { value: run, configurable: true });
  const descriptor = Object.getOwnPropertyDescriptor(target, name)!;
  for (const decorate of decorators) decorate(target, name, descriptor);
}
