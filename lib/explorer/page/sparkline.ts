import type { LiveServer } from '../api.js';
import { h } from './dom.js';
import { count } from './values.js';

const NS = 'http://www.w3.org/2000/svg';
const WIDTH = 240;
const HEIGHT = 48;

/** Calls of the latest five minutes as bars, with their errors. */
export function sparkline(traffic: LiveServer['traffic']): HTMLElement {
  const most = Math.max(1, ...traffic.map(({ calls }) => calls));
  const sum = (key: 'calls' | 'errors') => traffic.reduce((total, one) => total + one[key], 0);
  const text = `${count(sum('calls'), 'call')} and ${count(sum('errors'), 'error')} in the last 5 minutes`;
  if (sum('calls') === 0) return h('p.hint', 'No calls in the last 5 minutes');
  const picture = svg('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': text,
  });
  const step = WIDTH / traffic.length;
  for (const [index, { calls, errors }] of traffic.entries()) {
    for (const [kind, value] of [
      ['calls', calls],
      ['errors', errors],
    ] as const) {
      // A single error among many calls is seen, too.
      const height = Math.max(2, (value / most) * (HEIGHT - 1));
      if (value > 0)
        picture.append(
          svg('rect', { class: kind, x: index * step, y: HEIGHT - height, width: step - 1, height }),
        );
    }
  }
  picture.append(svg('line', { x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5 }));
  return h('figure.sparkline', picture, h('figcaption', text));
}

function svg(tag: string, attributes: Readonly<Record<string, string | number>>): Element {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}
