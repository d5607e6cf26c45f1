import { MemoryTaskStore, type StoredTask } from 'nestjs-mcp/tasks';

export const EXTENSION = 'io.modelcontextprotocol/tasks';

type Json = Record<string, unknown>;

export interface TaskAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The result or the error of the JSON-RPC answer. */
  readonly result?: Json & { readonly taskId?: string };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface TaskRequestOptions {
  /** Further headers. A header with an empty text is left out. */
  readonly headers?: Record<string, string>;
  /** Whether the client declares the extension. Default: true. */
  readonly declares?: boolean;
  readonly meta?: Json;
  readonly signal?: AbortSignal;
}

/** Sends one request of 2026-07-28, as a client with tasks words it. */
export async function send(
  url: string,
  method: string,
  params: Json,
  { headers = {}, declares = true, meta = {}, signal }: TaskRequestOptions = {},
): Promise<TaskAnswer> {
  const named = (params['taskId'] ?? params['name']) as string | undefined;
  const all: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(named !== undefined && { 'mcp-name': named }),
    ...headers,
  };
  const response = await fetch(url, {
    method: 'POST',
    signal,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': {
            elicitation: { form: {} },
            ...(declares && { extensions: { [EXTENSION]: {} } }),
          },
          ...meta,
        },
      },
    }),
  });
  const text = await response.text();
  const events = [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => data);
  const { result, error } = JSON.parse(events.at(-1) ?? text) as TaskAnswer;
  return { status: response.status, headers: response.headers, result, error };
}

/** A store that tells when a task has reached a state. */
export class WatchedTasks extends MemoryTaskStore {
  private readonly watchers = new Set<() => void>();
  readonly latest = new Map<string, StoredTask>();
  readonly history: StoredTask[] = [];

  override async create(task: StoredTask): Promise<void> {
    await super.create(task);
    this.note(task);
  }

  override async replace(task: StoredTask): Promise<boolean> {
    const isReplaced = await super.replace(task);
    if (isReplaced) this.note(task);
    return isReplaced;
  }

  override async delete(id: string): Promise<void> {
    await super.delete(id);
    this.latest.delete(id);
    for (const watch of this.watchers) watch();
  }

  /** Resolves when the task is as described; without an id, when any task is. */
  async until(is: (task: StoredTask) => boolean, id?: string): Promise<StoredTask> {
    const find = () =>
      [...this.latest.values()].find(task => (id === undefined || task.id === id) && is(task));
    return this.when(find);
  }

  untilStatus(status: StoredTask['status'], id?: string): Promise<StoredTask> {
    return this.until(task => task.status === status, id);
  }

  untilDeleted(id: string): Promise<true> {
    return this.when(() => (this.latest.has(id) ? undefined : true));
  }

  private when<T>(find: () => T | undefined): Promise<T> {
    return new Promise(resolve => {
      const watch = () => {
        const found = find();
        if (found === undefined) return;
        this.watchers.delete(watch);
        resolve(found);
      };
      this.watchers.add(watch);
      watch();
    });
  }

  private note(task: StoredTask): void {
    this.latest.set(task.id, task);
    this.history.push(task);
    for (const watch of [...this.watchers]) watch();
  }
}
