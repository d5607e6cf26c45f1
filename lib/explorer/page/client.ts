import { ApiFailure } from '../api-failure.js';
import type { ApiError, CallEvent } from '../api.js';
import { jsonIn } from './values.js';

export { ApiFailure };

export async function get<Answer>(name: string): Promise<Answer> {
  const response = await request(name, {});
  return (await response.json()) as Answer;
}

export async function post<Answer>(name: string, body: object): Promise<Answer> {
  const response = await request(name, { method: 'POST', body: JSON.stringify(body) });
  return (await response.json()) as Answer;
}

/** Posts a request, and yields the lines of the answer while they come. */
export async function* stream(name: string, body: object, signal: AbortSignal): AsyncGenerator<CallEvent> {
  const accept = 'application/x-ndjson';
  const { body: lines } = await request(name, { method: 'POST', body: JSON.stringify(body), signal }, accept);
  const reader = lines!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (text + value).split('\n');
    text = parts.pop() ?? '';
    for (const part of parts) yield JSON.parse(part) as CallEvent;
  }
}

async function request(name: string, init: RequestInit, accept = 'application/json'): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'mcp-explorer': '1', accept };
  const response = await fetch(`api/${name}`, { ...init, headers }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new Error('The application does not answer');
  });
  if (response.ok) return response;
  const { error } = (jsonIn(await response.text()) ?? {}) as Partial<ApiError>;
  throw new ApiFailure(response.status, error ?? `The application answered with ${response.status}`);
}
