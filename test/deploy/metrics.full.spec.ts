import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { METRIC } from '../../lib/telemetry/conventions.js';
import { read } from '../tooling/docs-pages.js';
import { exportedMetrics } from './exported.js';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly annotations: { readonly summary: string };
}

const { groups } = parse(read('deploy/prometheus-alerts.yaml')) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};
const ALERTS = groups.flatMap(({ rules }) => rules);

const { panels, templating } = JSON.parse(read('deploy/grafana-dashboard.json')) as {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly query: string }[] };
};

const EXPRESSIONS = [
  ...ALERTS.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
].map(([name, expr]) => [name, expr.replaceAll('$__rate_interval', '5m')] as const);

/** @throws if the expression is no PromQL */
function namesIn(expr: string) {
  const names: Record<'metrics' | 'labels', string[]> = { metrics: [], labels: [] };
  parser.parse(expr).iterate({
    enter({ type, from, to }) {
      if (type.isError) throw new Error(`No PromQL at ${from}: ${expr}`);
      const text = expr.slice(from, to);
      if (type.name === 'Identifier') names.metrics.push(text);
      if (type.name === 'LabelName') names.labels.push(text);
    },
  });
  return names;
}

let exported: ReadonlyMap<string, ReadonlySet<string>>;
beforeAll(async () => (exported = await exportedMetrics()));

it.each(EXPRESSIONS)('%s asks for metrics and labels that are exported', (_, expr) => {
  const { metrics, labels } = namesIn(expr);
  expect(metrics.length).toBeGreaterThan(0);
  expect(metrics.filter(name => !exported.has(name))).toEqual([]);
  for (const metric of metrics) {
    expect(labels.filter(label => !exported.get(metric)!.has(label))).toEqual([]);
  }
});

it('an expression that is no PromQL is found', () => {
  expect(() => namesIn('sum by (a (rate(b[5m]))')).toThrow('No PromQL');
});

it('the variable of the dashboard is a label that is exported', () => {
  const [, { query }] = templating.list;
  const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(query)!;
  expect([...exported.get(metric)!]).toContain(label);
});

it('the dashboard shows every metric but the durations of sessions', () => {
  const { serverSession: _server, clientSession: _client, open, ...rest } = METRIC;
  const all = [...Object.values(open), ...Object.values(rest)];
  const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
  const missing = all.filter(name => !new RegExp(`\\b${name.replaceAll('.', '_')}`).test(shown));
  expect(missing).toEqual([]);
});

it.each(ALERTS)('$alert says what to do', ({ annotations: { summary }, for: duration }) => {
  // A sentence of what happens, and one of what to do.
  expect(summary).toMatch(/[.;,] .+\.$/);
  expect(duration).toMatch(/^\d+m$/);
});
