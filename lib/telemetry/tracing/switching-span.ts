import type { Span } from '@opentelemetry/api';

/**
 * The active span of a call that may become a task. It stands for the span of the call, and from the start of the task on
 * for the span of the task: a handler that already runs cannot get another context.
 */
export class SwitchingSpan implements Span {
  constructor(public current: Span) {}

  spanContext(): ReturnType<Span['spanContext']> {
    return this.current.spanContext();
  }

  isRecording(): boolean {
    return this.current.isRecording();
  }

  setAttribute(...args: Parameters<Span['setAttribute']>): this {
    this.current.setAttribute(...args);
    return this;
  }

  setAttributes(...args: Parameters<Span['setAttributes']>): this {
    this.current.setAttributes(...args);
    return this;
  }

  addEvent(...args: Parameters<Span['addEvent']>): this {
    this.current.addEvent(...args);
    return this;
  }

  addLink(...args: Parameters<Span['addLink']>): this {
    this.current.addLink(...args);
    return this;
  }

  addLinks(...args: Parameters<Span['addLinks']>): this {
    this.current.addLinks(...args);
    return this;
  }

  setStatus(...args: Parameters<Span['setStatus']>): this {
    this.current.setStatus(...args);
    return this;
  }

  updateName(...args: Parameters<Span['updateName']>): this {
    this.current.updateName(...args);
    return this;
  }

  recordException(...args: Parameters<Span['recordException']>): void {
    this.current.recordException(...args);
  }

  end(...args: Parameters<Span['end']>): void {
    this.current.end(...args);
  }
}
