import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** What a request was, as far as the conventions ask. */
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
  /** Over HTTP, unless it is false. */
  readonly http?: boolean;
  readonly protocolVersion?: string;
  readonly hasSession?: boolean;
}

/** Attributes that the conventions know for spans, but for metrics alone or for what we do not serve. */
const OPTIONAL = new Set([
  'network.protocol.version',
  'client.address',
  'client.port',
  'server.address',
  'server.port',
  'nestjs_mcp.name',
  'nestjs_mcp.result.type',
]);

/** Checks a span against the attribute tables of the conventions: required, conditional and forbidden ones. */
export function expectConform(span: ReadableSpan, one: SpanCase): void {
  const { kind, method, tool, prompt, uri, isKnown = true, errorType, statusCode, http = true } = one;
  const { protocolVersion, hasSession = false } = one;
  const target = isKnown ? (tool ?? prompt) : undefined;
  const expected: Record<string, unknown> = {
    'mcp.method.name': method,
    'jsonrpc.request.id': expect.stringMatching(/./),
    'network.transport': http ? 'tcp' : 'pipe',
    ...(http && { 'network.protocol.name': 'http' }),
    ...(tool !== undefined && { 'gen_ai.tool.name': tool, 'gen_ai.operation.name': 'execute_tool' }),
    ...(prompt !== undefined && { 'gen_ai.prompt.name': prompt }),
    ...(uri !== undefined && { 'mcp.resource.uri': uri }),
    ...(errorType !== undefined && { 'error.type': errorType }),
    ...(statusCode !== undefined && { 'rpc.response.status_code': statusCode }),
    ...(protocolVersion !== undefined && { 'mcp.protocol.version': protocolVersion }),
    ...(hasSession && { 'mcp.session.id': expect.stringMatching(/^[\da-f]{32}$/) }),
  };
  const attributes = Object.fromEntries(
    Object.entries(span.attributes).filter(([key]) => !OPTIONAL.has(key)),
  );
  expect({ name: span.name, kind: SpanKind[span.kind], attributes }).toEqual({
    name: target === undefined ? method : `${method} ${target}`,
    kind,
    attributes: expected,
  });
  expect(span.status.code).toBe(errorType === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR);
  expect(span.ended).toBe(true);
}
