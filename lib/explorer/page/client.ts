import type { ApiError } from '../api.js';

export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export const get = <Answer>(name: string): Promise<Answer> => request<Answer>(name, {});

export const post = <Answer>(name: string, body: object, signal?: AbortSignal): Promise<Answer> =>
  request<Answer>(name, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'mcp-explorer': '1' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

async function request<Answer>(name: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(`api/${name}`, init);
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as Answer;
  throw new ApiFailure(response.status, sentenceOf(text) ?? `The server answered with ${response.status}`);
}

function sentenceOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as Partial<ApiError>).error;
  } catch {
    return undefined;
  }
}
