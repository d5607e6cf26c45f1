/** A task, or the result of a call that is none. */
export type Task = Record<string, unknown> & { readonly taskId: string; readonly status: string };

/** The SDK's client does not know tasks yet, so the requests are written out. */
export async function send(
  url: string,
  method: string,
  params: Record<string, unknown>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Task> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': String(params.taskId ?? params.name),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'drive', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': {
            elicitation: { form: {} },
            extensions: { 'io.modelcontextprotocol/tasks': {} },
          },
        },
      },
    }),
  });
  return ((await response.json()) as { result: Task }).result;
}
