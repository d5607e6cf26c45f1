import { ApiFailure } from '../api-failure.js';
import type { ApiError, CallEvent } from '../api.js';
import { jsonIn } from './values.js';

export { ApiFailure };

const HEADERS = { 'content-type': 'application/json', 'mcp-explorer': '1' };

export const get = async <Answer>(name: string): Promise<Answer> => jsonOf<Answer>(await request(name, {}));

export const post = async <Answer>(name: string, body: object, signal?: AbortSignal): Promise<Answer> =>
  jsonOf<Answer>(
    await request(name, { method: 'POST', headers: HEADERS, body: JSON.stringify(body), signal }),
  );

/** Posts a request, and yields the lines of the answer while they come. */
export async function* stream(name: string, body: object, signal: AbortSignal): AsyncGenerator<CallEvent> {
  const headers = { ...HEADERS, accept: 'application/x-ndjson' };
  const { body: lines } = await request(name, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal,
  });
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

async function request(name: string, init: RequestInit): Promise<Response> {
  const response = await fetch(`api/${name}`, init).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new Error('The application does not answer');
  });
  if (response.ok) return response;
  const sentence = sentenceOf(await response.text());
  throw new ApiFailure(response.status, sentence ?? `The application answered with ${response.status}`);
}

const jsonOf = async <Answer>(response: Response): Promise<Answer> => (await response.json()) as Answer;

function sentenceOf(text: string): string | undefined {
  const { error } = (jsonIn(text) ?? {}) as Partial<ApiError>;
  return typeof error === 'string' ? error : undefined;
}
