import type { InterceptorHost } from 'nestjs-mcp/interceptors';
import type { HostPolicy, InterceptorInvoker, InvokeParams } from 'nestjs-mcp/interceptors';

type Json = Record<string, unknown>;

/** One interceptor of a stub: its descriptor, and what it answers. */
export interface StubInterceptor {
  readonly descriptor: Json;
  readonly answer: (params: InvokeParams, signal: AbortSignal) => unknown;
}

/** A host in memory that counts what it is asked. */
export class StubHost implements InterceptorInvoker {
  lists = 0;
  readonly invoked: InvokeParams[] = [];
  onList: (cursor: string | undefined) => unknown;
  private changed: () => void = () => undefined;

  constructor(
    readonly name: string,
    readonly interceptors: StubInterceptor[],
  ) {
    this.onList = () => ({ interceptors: this.interceptors.map(({ descriptor }) => descriptor) });
  }

  async list({ cursor }: { cursor?: string }): Promise<unknown> {
    this.lists++;
    return this.onList(cursor);
  }

  async invoke(params: InvokeParams, { signal }: { signal: AbortSignal }): Promise<unknown> {
    this.invoked.push(params);
    const found = this.interceptors.find(({ descriptor }) => descriptor['name'] === params.name);
    if (!found) throw Object.assign(new Error('there is no such interceptor'), { code: -32602 });
    return found.answer(params, signal);
  }

  onChanged(listener: () => void): void {
    this.changed = listener;
  }

  change(): void {
    this.changed();
  }

  with(policy: HostPolicy = {}): InterceptorHost {
    return { name: this.name, invoker: this, ...policy };
  }
}

const hooks = [
  { events: ['tools/call'], phase: 'request' },
  { events: ['tools/call'], phase: 'response' },
];

/** A validator that passes, unless it is told what to answer. */
export const validator = (
  name: string,
  answer: StubInterceptor['answer'] = () => ({ valid: true }),
  extra: Json = {},
): StubInterceptor => ({ descriptor: { name, type: 'validation', hooks, ...extra }, answer });

/** A mutator that leaves its mark. */
export const mutator = (name: string, extra: Json = {}, mark = name): StubInterceptor => ({
  descriptor: { name, type: 'mutation', hooks, ...extra },
  answer: ({ payload }) => ({
    modified: true,
    payload: { ...(payload as Json), marks: [...(((payload as Json)['marks'] as string[]) ?? []), mark] },
  }),
});
