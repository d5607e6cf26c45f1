import type { Context, Link, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import { attempt } from '../../protocol/traffic.js';
import type { TrafficPoint, TrafficRequest } from '../../protocol/traffic-listener.js';
import { ATTR, EXECUTE_TOOL, OWN } from '../conventions.js';
import type { Ending } from '../ending.js';
import type { OpenTelemetry } from '../open-telemetry.js';
import { clientOf, hashOf, networkOf, serverOf, type Attributes } from '../peer.js';
import { recorded, withoutSecrets } from '../recording.js';
import { MAX_LENGTH, agreedVersion, type Subject } from '../subject.js';
import type { TelemetrySettings } from '../telemetry-options.js';
import { META_GETTER, META_SETTER, readMark, writeMark } from './propagation.js';

/** A span of a request, or the outer span that stands for it. */
export interface RequestSpan {
  readonly traceId: string | undefined;
  readonly run: <T>(work: () => T) => T;
  readonly inject: (meta: Record<string, unknown>) => void;
  /** @param isKnown whether the tool or prompt is known by now */
  readonly end: (ending: Ending, result: unknown, isKnown: boolean) => void;
}

export interface Beginning {
  readonly request: TrafficRequest;
  readonly point: TrafficPoint;
  readonly subject: Subject;
  /** Whether the tool or prompt exists. If it does, the span's name has its name. */
  readonly isKnown: boolean;
}

export class Tracing {
  /** The open spans, by their ids. */
  private readonly open = new Map<string, Span>();

  constructor(
    private readonly api: OpenTelemetry,
    readonly tracer: Tracer,
    private readonly settings: TelemetrySettings,
  ) {}

  begin(beginning: Beginning): RequestSpan {
    const { point } = beginning;
    const ambient = this.api.context.active();
    const outer = point.side === 'client' ? this.outerOf(beginning, ambient) : undefined;
    if (outer) return this.spanOver(outer, ambient, beginning, false);
    const { parent, links } = this.parentOf(beginning, ambient);
    const kind = point.side === 'server' ? this.api.SpanKind.SERVER : this.api.SpanKind.CLIENT;
    const attributes = attributesOf(beginning.subject);
    const span = this.start(this.nameOf(beginning), { kind, attributes, links }, parent);
    return this.spanOver(span, this.api.trace.setSpan(parent, span), beginning, true);
  }

  start(name: string, options: SpanOptions, parent: Context): Span {
    const span = this.tracer.startSpan(name, options, parent);
    if (span.isRecording()) this.open.set(span.spanContext().spanId, span);
    return span;
  }

  end(span: Span): void {
    this.open.delete(span.spanContext().spanId);
    span.end();
  }

  /** Whether a span is that of a request or a task that still runs. */
  isOwn(span: Span): boolean {
    return this.open.has(span.spanContext().spanId);
  }

  mark(): string | undefined {
    const span = this.api.trace.getActiveSpan()?.spanContext();
    return span && this.api.trace.isSpanContextValid(span) ? writeMark(span) : undefined;
  }

  follow(mark: string): void {
    const context = readMark(mark);
    const span = this.api.trace.getActiveSpan();
    // All rounds of a 2025 call share one span, which must not be linked to itself.
    if (!context || context.spanId === span?.spanContext().spanId) return;
    span?.addLink({ context, attributes: { [OWN.link]: 'round' } });
  }

  /** Ends the open spans when the application closes. */
  close(): void {
    for (const span of this.open.values()) attempt(() => span.end());
    this.open.clear();
  }

  private spanOver(span: Span, own: Context, beginning: Beginning, isOwn: boolean): RequestSpan {
    const { context, propagation, trace } = this.api;
    const known = span.spanContext();
    if (span.isRecording()) span.setAttributes(this.detailsOf(beginning));
    return {
      traceId: trace.isSpanContextValid(known) ? known.traceId : undefined,
      run: work => context.with(own, work),
      inject: meta => propagation.inject(own, meta, META_SETTER),
      end: (ending, result, isKnown) => {
        this.open.delete(known.spanId);
        if (span.isRecording()) this.describe(span, ending, beginning, result);
        // A gateway learns the name from this answer.
        if (isOwn && isKnown && !beginning.isKnown) span.updateName(this.nameOf({ ...beginning, isKnown }));
        if (isOwn) span.end();
      },
    };
  }

  /** The parent is the client's span, if the message has one. The ambient span, such as the HTTP span, is then a link. */
  private parentOf({ request, point }: Beginning, ambient: Context): { parent: Context; links: Link[] } {
    const { propagation, trace } = this.api;
    if (point.side === 'client' || !request.meta) return { parent: ambient, links: [] };
    const parent = this.withOwnBaggage(ambient, propagation.extract(ambient, request.meta, META_GETTER));
    const around = trace.getSpanContext(ambient);
    const isRemote = trace.getSpanContext(parent) !== around;
    return { parent, links: isRemote && around ? [{ context: around }] : [] };
  }

  /** A caller's baggage does not replace entries of the application. */
  private withOwnBaggage(ambient: Context, extracted: Context): Context {
    const { propagation } = this.api;
    const own = propagation.getBaggage(ambient);
    const sent = propagation.getBaggage(extracted);
    if (!own || !sent || own === sent) return extracted;
    const merged = own.getAllEntries().reduce((all, [key, entry]) => all.setEntry(key, entry), sent);
    return propagation.setBaggage(extracted, merged);
  }

  /** The span of a GenAI instrumentation for the same call. The conventions ask for one span of it. */
  private outerOf({ subject }: Beginning, ambient: Context): Span | undefined {
    const span = this.api.trace.getSpan(ambient);
    const { attributes = {}, kind } = (span ?? {}) as { attributes?: Attributes; kind?: number };
    const isOuter =
      subject.tool !== undefined &&
      kind !== this.api.SpanKind.SERVER &&
      attributes[ATTR.operation] === EXECUTE_TOOL &&
      attributes[ATTR.toolName] === subject.tool &&
      attributes[ATTR.method] === undefined;
    return isOuter ? span : undefined;
  }

  private nameOf({ subject: { method, tool, prompt, uri }, isKnown }: Beginning): string {
    const target = isKnown ? (tool ?? prompt) : this.settings.resourceUriInSpanNames ? uri : undefined;
    return target === undefined ? method : `${method} ${target}`;
  }

  /** Attributes that only a recorded span needs. */
  private detailsOf({ request, point, subject }: Beginning): Attributes {
    const { requestId, protocolVersion, sessionId, params } = request;
    const isShown = this.settings.recordArguments && subject.tool !== undefined;
    return {
      ...attributesOf(subject),
      ...networkOf(request, point),
      ...(point.side === 'server' ? clientOf(request) : serverOf(point)),
      ...(requestId !== undefined && { [ATTR.requestId]: String(requestId).slice(0, MAX_LENGTH) }),
      ...(protocolVersion !== undefined && { [ATTR.protocolVersion]: protocolVersion }),
      ...(sessionId !== undefined && { [ATTR.sessionId]: hashOf(sessionId) }),
      ...(isShown && { [ATTR.toolArguments]: recorded(params?.['arguments'] ?? {}) }),
      [OWN.peer]: point.name,
    };
  }

  private describe(span: Span, ending: Ending, beginning: Beginning, result: unknown): void {
    const { tool } = beginning.subject;
    const { errorType, statusCode, resultType } = ending;
    const version = agreedVersion(beginning.subject, result);
    if (version !== undefined) span.setAttribute(ATTR.protocolVersion, version);
    if (resultType !== undefined) span.setAttribute(OWN.resultType, resultType);
    if (statusCode !== undefined) span.setAttribute(ATTR.statusCode, statusCode);
    if (
      this.settings.recordResults &&
      tool !== undefined &&
      result !== undefined &&
      resultType === undefined
    ) {
      span.setAttribute(ATTR.toolResult, recorded(result));
    }
    if (errorType === undefined) return;
    span.setAttribute(ATTR.errorType, errorType);
    const message = messageOf(beginning, ending);
    span.setStatus({ code: this.api.SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
  }
}

/**
 * The message of the JSON-RPC error, if the application wrote it for its callers: in a tool or prompt of this server.
 * Another server may put anything into its messages, and messages about resources repeat the URI.
 */
function messageOf({ point, subject }: Beginning, { message }: Ending): string | undefined {
  const isOwn = point.side === 'server' && point.isKnown !== undefined;
  const isNamed = subject.tool !== undefined || subject.prompt !== undefined;
  return isOwn && isNamed && message !== undefined ? withoutSecrets(message) : undefined;
}

/** Attributes that a sampler can use. */
function attributesOf({ method, tool, prompt, uri }: Subject): Attributes {
  return {
    [ATTR.method]: method,
    ...(tool !== undefined && { [ATTR.toolName]: tool }),
    ...(method === 'tools/call' && { [ATTR.operation]: EXECUTE_TOOL }),
    ...(prompt !== undefined && { [ATTR.promptName]: prompt }),
    ...(uri !== undefined && { [ATTR.resourceUri]: uri }),
  };
}
