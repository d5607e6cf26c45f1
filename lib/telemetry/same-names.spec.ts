import { InterceptorReports } from '../interceptors/reports.js';
import { McpHealthIndicator } from './health/mcp-health.indicator.js';
import { McpMetrics } from './metrics/mcp-metrics.js';

const servers = { all: () => [], drafts: () => [] } as never;
const host = (breakerState: string, isUp: boolean) => ({
  name: 'policy',
  breakerState,
  isRequired: true,
  isUp: () => Promise.resolve(isUp),
});

it.each([
  { remoteHosts: [host('open', false), host('closed', true)] },
  { remoteHosts: [host('closed', true), host('open', false)] },
])('two interceptor hosts of one name have the worse state of both', async loaded => {
  const loader = loaded as never;
  const { breakers } = new McpMetrics(servers, new InterceptorReports(), loader).snapshot();
  expect(breakers).toEqual({ policy: 'open' });
  const { mcp } = await new McpHealthIndicator(servers, loader).readiness();
  expect(mcp.interceptorHosts).toEqual({ policy: 'down' });
});
