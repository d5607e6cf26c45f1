// Nothing here is run: `tsc --noEmit`, a part of `npm test`, is what checks it. An expected error that is none is one.
import type { Jsonify, McpContext } from 'nestjs-mcp';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Check<T extends true> = T;

class Plan {
  readonly cost = 1;
  readonly at = new Date();
  describe() {
    return 'a plan';
  }
}

interface Tree {
  name: string;
  leaves: Tree[];
}

/** What comes out of a step. */
export type Steps = [
  Check<Same<Jsonify<Date>, string>>,
  Check<Same<Jsonify<URL>, string>>,
  Check<Same<Jsonify<string | 7 | null | undefined>, string | 7 | null | undefined>>,
  Check<Same<Jsonify<{ at: Date; by?: { id: number } }>, { at: string; by?: { id: number } }>>,
  Check<Same<Jsonify<Date[]>, string[]>>,
  Check<Same<Jsonify<readonly [Date, number]>, readonly [string, number]>>,
  Check<Same<Jsonify<Plan>, { readonly cost: 1; readonly at: string }>>,
  Check<Same<Jsonify<Map<string, Date>>, Record<string, never>>>,
  Check<Same<Jsonify<(() => void)[]>, null[]>>,
  Check<Same<Jsonify<(Date | undefined)[]>, (string | null)[]>>,
  Check<Same<Jsonify<{ id: number; run: () => void }>, { id: number }>>,
  Check<Same<Jsonify<Record<string, Date>>, Record<string, string>>>,
  Check<Same<Jsonify<bigint>, never>>,
  Check<Same<Jsonify<void>, void>>,
  Check<Same<Jsonify<unknown>, unknown>>,
  Check<Same<Jsonify<Tree>['leaves'][number]['name'], string>>,
];

const state = (ctx: McpContext) => ctx.requestState();
const known = (ctx: McpContext) => ctx.requestState<{ seen: number }>();
const date = (ctx: McpContext) => ctx.step('date', () => new Date());
const plan = (ctx: McpContext) => ctx.step('plan', () => Promise.resolve(new Plan()));
const nothing = (ctx: McpContext) => ctx.step('nothing', () => undefined);
export const USES = { state, known, date, plan, nothing };

/** What a context gives. Nothing is known of a state that nobody has named. */
export type Given = [
  Check<Same<ReturnType<typeof state>, unknown>>,
  Check<Same<ReturnType<typeof known>, { seen: number } | undefined>>,
  Check<Same<Awaited<ReturnType<typeof date>>, string>>,
  Check<Same<Awaited<ReturnType<typeof plan>>['at'], string>>,
  Check<Same<Awaited<ReturnType<typeof nothing>>, undefined>>,
];

/** What does not compile. */
export const MISUSES = [
  // @ts-expect-error a state may be anything
  (ctx: McpContext): string | undefined => ctx.requestState(),
  // @ts-expect-error a date is a text by then
  async (ctx: McpContext) => (await ctx.step('at', () => new Date())).getTime(),
  // @ts-expect-error methods do not travel
  async (ctx: McpContext) => (await ctx.step('plan', () => new Plan())).describe(),
];
