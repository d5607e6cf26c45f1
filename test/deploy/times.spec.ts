import { parse, parseAllDocuments } from 'yaml';
import { read } from '../tooling/docs-pages.js';

/** The default of an option of `McpModule`, as its page shows it. */
function defaultOf(option: string): number {
  const [name, group = ''] = option.split('.').reverse();
  const page = read('docs/options/nestjs-mcp.md');
  const rows = page.slice(page.indexOf(group && `## \`${group}\``));
  return numberIn(rows, new RegExp(`^\\| \`${name}\` \\|[^|]*\\| (?:[\\d.]+ MiB \\()?([\\d,]+)`, 'm'));
}

const numberIn = (text: string, pattern: RegExp): number =>
  Number(pattern.exec(text)![1].replaceAll(',', ''));

const [deployment] = parseAllDocuments(read('deploy/kubernetes.yaml')).map(
  document => document.toJS() as object,
);
const pod = (deployment as { spec: { template: { spec: PodSpec } } }).spec.template.spec;

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly [
    {
      readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
      readonly livenessProbe: Probe;
      readonly readinessProbe: Probe;
      readonly startupProbe: Probe;
    },
  ];
}

interface Probe {
  readonly httpGet: { readonly path: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

const [{ lifecycle, livenessProbe, readinessProbe, startupProbe }] = pod.containers;
const README = read('deploy/README.md');
const HAPROXY = read('deploy/haproxy.cfg');
const NGINX = read('deploy/nginx.conf');
const DOCKERFILE = read('deploy/Dockerfile');

/** What README.md tells applications to set. */
const DRAIN_MS = numberIn(README, /`drainMs` .*?\| +([\d,]+) ms/);
/** A node that has waited for its calls exits within a second. */
const SHUTDOWN_MS = defaultOf('shutdownTimeoutMs') + 1000;

it('Kubernetes waits for preStop, drainMs and shutdownTimeoutMs', () => {
  const preStopMs = lifecycle.preStop.sleep.seconds * 1000;
  expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(preStopMs + DRAIN_MS + SHUTDOWN_MS);
});

it('Compose waits for drainMs and shutdownTimeoutMs', () => {
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    services: Record<string, { readonly stop_grace_period?: string }>;
  };
  for (const node of ['node-1', 'node-2']) {
    const graceMs = numberIn(services[node].stop_grace_period!, /^(\d+)s$/) * 1000;
    expect(graceMs).toBeGreaterThan(DRAIN_MS + SHUTDOWN_MS);
  }
});

it('a node serves until HAProxy and Kubernetes have seen that it leaves', () => {
  const [inter, fall] = [/inter (\d+)ms/, /fall (\d+)/].map(pattern => numberIn(HAPROXY, pattern));
  expect(DRAIN_MS).toBeGreaterThan(inter * (fall + 1));
  const { periodSeconds, failureThreshold } = readinessProbe;
  expect(lifecycle.preStop.sleep.seconds).toBeGreaterThan(periodSeconds * (failureThreshold + 1));
});

it('proxies wait longer than a call may take, and take the bodies that the server takes', () => {
  const readMs = numberIn(NGINX, /proxy_read_timeout (\d+)h/) * 3_600_000;
  expect(readMs).toBeGreaterThan(defaultOf('calls.timeoutMs'));
  expect(numberIn(HAPROXY, /timeout server (\d+)h/) * 3_600_000).toBe(readMs);
  expect(numberIn(NGINX, /client_max_body_size (\d+)m/) * 2 ** 20).toBe(defaultOf('http.maxBodyBytes'));
});

it('all ask for the same two paths', () => {
  const [ready, live] = ['/health/ready', '/health/live'];
  expect([readinessProbe, livenessProbe, startupProbe].map(({ httpGet: { path } }) => path)).toEqual([
    ready,
    live,
    live,
  ]);
  expect(HAPROXY).toContain(`GET ${ready}\n`);
  expect(read('deploy/envoy.yaml')).toContain(`path: ${ready} }`);
  expect(DOCKERFILE).toContain(`${live}\``);
});

it('README.md has the times of the files', () => {
  const { seconds } = lifecycle.preStop.sleep;
  expect(README).toMatch(new RegExp(`\`preStop\` .*\\| +${seconds} s`));
  expect(README).toMatch(
    new RegExp(`\`terminationGracePeriodSeconds\` .*\\| +${pod.terminationGracePeriodSeconds} s`),
  );
});
