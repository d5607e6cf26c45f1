import type { Answer, Sent } from './send.js';

interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: {
    readonly reason?: string;
    readonly mismatch?: { readonly header?: string; readonly body?: string };
  };
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a request says, if it is JSON. */
export function bodyOf({ body = '' }: Sent): object {
  try {
    return (JSON.parse(body) as object | null) ?? {};
  } catch {
    return {};
  }
}

export const errorOf = ({ body }: Answer): JsonRpcError | undefined =>
  isRecord(body) ? (body['error'] as JsonRpcError | undefined) : undefined;

/** An error answer without its text. */
export function withoutText(answer: Answer): Answer {
  const error = errorOf(answer);
  if (!error) return answer;
  return { ...answer, body: { ...(answer.body as object), error: { ...error, message: '' } } };
}

/** An argument of a call, by its path. */
export function argumentsAt(request: Sent, path = ''): unknown {
  const { params } = bodyOf(request) as { params?: { arguments?: unknown } };
  return path
    .split('.')
    .reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), params?.arguments);
}

/** Whether a header repeats a value as SEP-2243 has it, in the plainest reading of it. */
export function mirrors(header: string | readonly string[] | undefined, value: unknown): boolean {
  const isScalar = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
  if (!isScalar || typeof header !== 'string') return false;
  const text = String(value);
  const encoded = `=?base64?${Buffer.from(text).toString('base64')}?=`;
  return header.trim() === encoded || (header.trim() === text && /^[\x20-\x7e]*$/.test(text));
}
