import { byHand, chainOf, INTERCEPTORS, throughEngine, type Kind } from './interceptors.js';
import { compare, type Effort } from './ratio.js';
import type { Line } from './report.js';

const COUNTS = [1, 5, 10, 50];
const KINDS: readonly Kind[] = ['validator', 'mutator'];

/** What the chain engine costs over the functions that it runs, and how that grows. */
export async function benchEngine(effort: Effort): Promise<Line[]> {
  const lines: Line[] = [];
  for (const kind of KINDS) {
    for (const form of ['sync', 'async'] as const) {
      const run = INTERCEPTORS[kind][form];
      for (const count of COUNTS) {
        const chain = throughEngine(chainOf(kind, run, count));
        lines.push({
          name: `${count} ${form} ${kind}${count > 1 ? 's' : ''} / the same functions by hand`,
          bound: 5,
          ...(await compare(chain, byHand(kind, run, count), effort)),
        });
      }
    }
  }
  for (const kind of KINDS) {
    const [ten, fifty] = [10, 50].map(count => throughEngine(chainOf(kind, INTERCEPTORS[kind].sync, count)));
    lines.push({ name: `50 ${kind}s / 10 of them`, bound: 6, ...(await compare(fifty, ten, effort)) });
  }
  const [one, other] = [1, 50].map(count =>
    throughEngine(chainOf('validator', INTERCEPTORS.validator.sync, count, 'prompts/get')),
  );
  const empty = throughEngine(chainOf('validator', INTERCEPTORS.validator.sync, 0));
  lines.push({
    name: '50 that do not match / none at all',
    bound: 1.5,
    ...(await compare(other, empty, effort)),
  });
  lines.push({ name: '50 that do not match / 1', bound: 1.5, ...(await compare(other, one, effort)) });
  lines.push({
    name: 'a chain that matches nothing / a lookup',
    bound: 5,
    ...(await compare(other, lookup, effort)),
  });
  return lines;
}

const EVENTS = new Map([['tools/call', {}]]);
const lookup = async () => EVENTS.get('tools/call');
