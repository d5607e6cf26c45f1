/** What a 2026-07-28 client says with every request. */
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, sampling: {}, roots: {} },
};

export interface Round {
  readonly method?: 'tools/call' | 'prompts/get';
  readonly name: string;
  readonly args?: object;
  readonly user?: string;
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
}

export interface RoundAnswer {
  readonly error?: { code: number; message: string; data?: unknown };
  readonly result?: {
    readonly resultType?: string;
    readonly inputRequests?: Record<string, { params: { message: string } }>;
    readonly requestState?: string;
    readonly content?: { text: string }[];
    readonly isError?: boolean;
  };
}

/** One round of a call, as a client words it that does what it likes. */
export const messageOf = ({
  method = 'tools/call',
  name,
  args = {},
  requestState,
  inputResponses,
}: Round): object => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params: {
    name,
    arguments: args,
    ...(requestState !== undefined && { requestState }),
    ...(inputResponses !== undefined && { inputResponses }),
    _meta: META,
  },
});

/** Sends one over HTTP. */
export async function send(url: string, round: Round): Promise<RoundAnswer> {
  const { method = 'tools/call', name, user } = round;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': name,
      ...(user !== undefined && { 'x-user': user }),
    },
    body: JSON.stringify(messageOf(round)),
  });
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return JSON.parse(data) as RoundAnswer;
}
