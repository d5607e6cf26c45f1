import { randomUUID } from 'node:crypto';
import type { Setup } from './contenders/setup.js';
import type { Contender } from './types.js';

export type Running = Contender & { readonly url: string };

/** One JSON-RPC request as it is posted. */
export interface Posted {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Posted after the answer, with the id of its task in place of `TASK`. */
  readonly poll?: Posted;
}

/** Stands for the id of a task that a request waits for. */
export const TASK = 'the-task-id';

/** A method and its parameters, and what the answer has to say. */
export interface Call {
  readonly method: 'tools/call' | 'tools/list';
  readonly params: { readonly name?: string; readonly [member: string]: unknown };
  readonly says: string;
  /** Whether each call becomes a task, which is polled once. */
  readonly isTask?: boolean;
}

const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const CLIENT = { name: 'bench', version: '1.0.0' };

/** The headers of every request. */
const headersOf = ({ token = 'token-of-ada' }: Setup) => ({
  ...JSON_HEADERS,
  authorization: `Bearer ${token}`,
});

const toBody = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message });

/** What one client of an era posts. In the 2025 era it opens a session first, but for a server that has none. */
export async function requestOf(
  { url, program, setup }: Running,
  { method, params, isTask = false }: Call,
): Promise<Posted> {
  const { era, feature } = setup;
  if (program === 'bare' && feature === 'route') {
    return { headers: headersOf(setup), body: JSON.stringify(params['arguments']) };
  }
  if (era === '2025-11-25') {
    const hasSession = program !== 'bare' && setup.legacy !== 'stateless';
    const headers = hasSession ? await openSession(url, setup) : sessionHeaders(setup, randomUUID());
    return { headers, body: toBody({ id: 1, method, params }) };
  }
  const posted = modern(setup, method, params.name, params, isTask);
  return isTask ? { ...posted, poll: modern(setup, 'tasks/get', TASK, { taskId: TASK }, true) } : posted;
}

const modern = (
  setup: Setup,
  method: string,
  name: string | undefined,
  params: object,
  hasTasks: boolean,
): Posted => ({
  headers: {
    ...headersOf(setup),
    'mcp-protocol-version': setup.era,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  },
  body: toBody({
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': setup.era,
        'io.modelcontextprotocol/clientInfo': CLIENT,
        'io.modelcontextprotocol/clientCapabilities': {
          elicitation: { form: {} },
          ...(hasTasks && { extensions: { 'io.modelcontextprotocol/tasks': {} } }),
        },
      },
    },
  }),
});

const sessionHeaders = (setup: Setup, id: string) => ({
  ...headersOf(setup),
  'mcp-protocol-version': '2025-11-25',
  'mcp-session-id': id,
});

async function openSession(url: string, setup: Setup): Promise<Posted['headers']> {
  const params = { protocolVersion: '2025-11-25', clientInfo: CLIENT, capabilities: {} };
  const body = toBody({ id: 0, method: 'initialize', params });
  const response = await fetch(url, { method: 'POST', headers: headersOf(setup), body });
  await response.text();
  const headers = sessionHeaders(setup, response.headers.get('mcp-session-id')!);
  await post(url, { headers, body: toBody({ method: 'notifications/initialized' }) });
  return headers;
}

/** What the server says, whether as JSON or as the last event. */
export async function post(url: string, { headers, body }: Posted): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  return [...text.matchAll(/^data: (.*\S)/gm)].at(-1)?.[1] ?? text;
}
