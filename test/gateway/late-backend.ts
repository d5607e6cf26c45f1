import { createInterface } from 'node:readline';

type Json = Record<string, unknown>;

// A server on stdin and stdout that speaks by itself, of what was called before: nothing says to whom it belongs.
const write = (message: object) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const schema = { type: 'object' };
const about = { capabilities: { tools: {}, logging: {} }, serverInfo: { name: 'late', version: '1' } };
const modern = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const tools = ['begin', 'finish', 'ask', 'tell'].map(name => ({ name, inputSchema: schema }));
const say = (text: string) => ({ ...modern, content: [{ type: 'text', text }] });

let begun = 0;
/** The call to answer once the question is. */
let asking: unknown;

function call(id: unknown, { name, _meta }: { name?: string; _meta?: Json }): void {
  const asked = begun;
  switch (name) {
    case 'begin': // and never answer
      begun += 1;
      return write({
        method: 'notifications/progress',
        params: { progressToken: _meta?.['progressToken'], progress: 1 },
      });
    case 'finish':
      begun += 1;
      return write({ id, result: say('finished') });
    case 'ask':
      if (asked === 0) return write({ id, result: say('of nobody else') });
      asking = id;
      return write({
        id: 'question',
        method: 'elicitation/create',
        params: { message: 'Delete the account?', requestedSchema: { type: 'object', properties: {} } },
      });
    default:
      write({ method: 'notifications/message', params: { level: 'error', data: 'a secret' } });
      return write({ id, result: say('told') });
  }
}

function answer({ id, method, params = {}, result, error }: Json): void {
  if (id === 'question') return write({ id: asking, result: say(JSON.stringify(result ?? error)) });
  if (id === undefined) return;
  switch (method) {
    case 'initialize':
      return write({ id, result: { protocolVersion: '2025-11-25', ...about } });
    case 'server/discover':
      return write({ id, result: { ...modern, supportedVersions: ['2026-07-28'], ...about } });
    case 'tools/list':
      return write({ id, result: { ...modern, tools } });
    case 'tools/call':
      return call(id, params as Json);
    default:
      return write({ id, error: { code: -32601, message: 'Method not found' } });
  }
}

createInterface({ input: process.stdin }).on('line', line => answer(JSON.parse(line) as Json));
