/** An answer to one request, with what its HTTP response says. */
export interface RawReply {
  readonly status: number;
  readonly challenge: string | null;
  readonly session: string | null;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: unknown };
}

export interface RawCallerOptions {
  readonly url: string;
  readonly era: 'modern' | 'legacy';
  readonly headers?: Record<string, string>;
  /** Of the 2025 era. */
  readonly session?: string;
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};

/** Sends one request without the SDK's client, which hides status and challenge. */
export async function ask(
  { url, era, headers, session }: RawCallerOptions,
  method: string,
  params: Record<string, unknown> = {},
): Promise<RawReply> {
  const isModern = era === 'modern';
  const name = params['name'] ?? params['uri'];
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': isModern ? '2026-07-28' : '2025-11-25',
      ...(isModern && { 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': name }) }),
      ...(session !== undefined && { 'mcp-session-id': session }),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: isModern ? { ...params, _meta: META } : params,
    }),
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.startsWith('text/event-stream')
    ? text
        .split('\n')
        .findLast(line => line.startsWith('data: {'))
        ?.slice(6)
    : text;
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    session: response.headers.get('mcp-session-id'),
    ...(json && (JSON.parse(json) as object)),
  };
}

/** A request to listen, of 2026-07-28. */
export const listenMessage = (notifications: object): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: { notifications, _meta: META },
});

export const listenHeaders = (headers: Record<string, string> = {}): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'subscriptions/listen',
  ...headers,
});

/** The text of a tool's result. */
export const textIn = ({ result }: RawReply): string | undefined =>
  (result?.['content'] as { text: string }[] | undefined)?.[0].text;

/** Opens a session of the 2025 era. */
export async function openSession(url: string, headers?: Record<string, string>): Promise<string> {
  const { session } = await ask({ url, era: 'legacy', headers }, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  });
  return session!;
}
