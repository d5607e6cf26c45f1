import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { MetricData } from '@opentelemetry/sdk-metrics';

/** A request, as far as the conventions ask. */
export interface SpanCase {
  readonly kind: 'SERVER' | 'CLIENT';
  readonly method: string;
  readonly tool?: string;
  readonly prompt?: string;
  readonly uri?: string;
  /** Whether the tool or the prompt exists. Default: true. */
  readonly isKnown?: boolean;
  /** `error.type`. Default: success. */
  readonly errorType?: string;
  readonly statusCode?: string;
  /** Description of the status. Default: none. */
  readonly message?: string;
  /** Whether the result asks the client. */
  readonly asks?: boolean;
  /** Over HTTP, unless it is false. */
  readonly http?: boolean;
  readonly protocolVersion?: string;
  readonly hasSession?: boolean;
  /** Whether the HTTP request and the address at the other end are known. Default: over HTTP. */
  readonly hasAddress?: boolean;
}

/** A span of this process, or one that another process has written. */
export interface CheckedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: SpanStatusCode; readonly message?: string };
  readonly ended: boolean;
}

const text = expect.stringMatching(/./) as string;

function networkOf({ kind, http = true, hasAddress = http }: SpanCase): Record<string, unknown> {
  const isServer = kind === 'SERVER';
  const side = isServer ? 'client' : 'server';
  return {
    'network.transport': http ? 'tcp' : 'pipe',
    ...(http && { 'network.protocol.name': 'http' }),
    ...(hasAddress && isServer && { 'network.protocol.version': '1.1' }),
    ...(hasAddress && {
      [`${side}.address`]: '127.0.0.1',
      [`${side}.port`]: expect.any(Number) as number,
    }),
  };
}

/** Checks a span against the attribute tables of the conventions: it has the named attributes, and no other. */
export function expectConform(span: CheckedSpan, one: SpanCase): void {
  const { kind, method, tool, prompt, uri, isKnown = true, errorType, statusCode } = one;
  const { protocolVersion, hasSession = false, message, asks = false } = one;
  const target = isKnown ? (tool ?? prompt) : undefined;
  const { name, attributes, status, ended } = span;
  expect({ name, kind: SpanKind[span.kind], attributes, status, ended }).toEqual({
    name: target === undefined ? method : `${method} ${target}`,
    kind,
    attributes: {
      'mcp.method.name': method,
      'jsonrpc.request.id': text,
      'nestjs_mcp.name': text,
      ...networkOf(one),
      ...(tool !== undefined && { 'gen_ai.tool.name': tool, 'gen_ai.operation.name': 'execute_tool' }),
      ...(prompt !== undefined && { 'gen_ai.prompt.name': prompt }),
      ...(uri !== undefined && { 'mcp.resource.uri': uri }),
      ...(errorType !== undefined && { 'error.type': errorType }),
      ...(statusCode !== undefined && { 'rpc.response.status_code': statusCode }),
      ...(protocolVersion !== undefined && { 'mcp.protocol.version': protocolVersion }),
      ...(hasSession && { 'mcp.session.id': expect.stringMatching(/^[\da-f]{32}$/) as string }),
      ...(asks && { 'nestjs_mcp.result.type': 'input_required' }),
    },
    status: {
      code: errorType === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR,
      ...(message !== undefined && { message }),
    },
    ended: true,
  });
}

/** Attributes that the conventions have for the metrics of operations. The id of a request or a session is none of them. */
const OF_METRICS = new Set([
  'nestjs_mcp.name',
  'mcp.method.name',
  'error.type',
  'gen_ai.tool.name',
  'gen_ai.prompt.name',
  'gen_ai.operation.name',
  'rpc.response.status_code',
  'mcp.protocol.version',
  'network.transport',
  'network.protocol.name',
  'network.protocol.version',
  'server.address',
  'server.port',
]);

/** Checks the histogram of operations: unit, buckets, and the attributes of each series. */
export function expectConformMetric({ descriptor, dataPoints }: MetricData): void {
  expect(descriptor.unit).toBe('s');
  const foreign = dataPoints.flatMap(({ attributes }) =>
    Object.keys(attributes).filter(name => !OF_METRICS.has(name)),
  );
  expect(foreign).toEqual([]);
  for (const { attributes, value } of dataPoints) {
    expect(value).toMatchObject({
      buckets: { boundaries: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] },
    });
    expect(attributes).toMatchObject({
      'mcp.method.name': text,
      'network.transport': text,
      'nestjs_mcp.name': text,
    });
  }
}
