import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const CLIENT = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

const agent = new Agent({ keepAlive: true, maxSockets: 32, timeout: 3000 });

/** Sends a message of a session. @throws Error for a refusal */
export async function post(url: string, session: string | undefined, message: object): Promise<string> {
  const headers = session === undefined ? HEADERS : { ...HEADERS, 'mcp-session-id': session };
  const sending = request(url, { method: 'POST', agent, headers });
  sending.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  const body = await text(answer);
  if (answer.statusCode! >= 300) throw new Error(`${answer.statusCode} ${body}`);
  return (answer.headers['mcp-session-id'] as string | undefined) ?? body;
}

/** Opens a session. @returns its id */
export async function open(url: string): Promise<string> {
  const session = await post(url, undefined, { id: 0, method: 'initialize', params: CLIENT });
  await post(url, session, { method: 'notifications/initialized' });
  return session;
}

let calls = 0;

export const call = (url: string, session: string, name: string, args: object, token?: string) =>
  post(url, session, {
    id: (calls += 1),
    method: 'tools/call',
    params: { name, arguments: args, ...(token !== undefined && { _meta: { progressToken: token } }) },
  });

/** Listens to a session. @returns a function that stops it */
export async function listen(url: string, session: string, onMessage: () => void): Promise<() => void> {
  const headers = { accept: 'text/event-stream', 'mcp-session-id': session };
  const sending = request(url, { method: 'GET', agent: false, headers }).end();
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}`);
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    for (const line of chunk.split('\n')) if (line.startsWith('data: {')) onMessage();
  });
  answer.on('error', () => undefined);
  return () => void sending.destroy();
}

/** Does work for so many, some at a time. */
export async function many<T>(count: number, work: (index: number) => Promise<T>, atOnce = 16): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next++;
      results[index] = await work(index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
