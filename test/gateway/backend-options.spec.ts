import { McpGatewayModule } from 'nestjs-mcp/gateway';

const url = 'http://127.0.0.1:1/mcp';

describe('the options of a backend follow the rules of a client', () => {
  it.each([
    [{}, 'it needs one of "url", "command" and "transport"'],
    [null, 'a backend must be an object with a "url", a "command" or a "transport"'],
    [{ url, conectTimeoutMs: 5 }, 'unknown option "conectTimeoutMs"'],
    [{ url, era: 'moderne' }, '"era" must be "auto", "modern" or "legacy"'],
    [{ url, connectTimeoutMs: -3 }, '"connectTimeoutMs" must be a whole number above 0'],
    [{ url, capabilities: 1 }, '"capabilities" must be an object'],
    [{ url: '/mcp' }, '"url" must be an absolute URL'],
    [{ url, args: [] }, '"args" is only for a "command"'],
    [{ command: 'npx', headers: {} }, '"headers" is only for a server at a "url"'],
    [{ url, headers: { 'Mcp-Name': 'a' } }, '"headers" must not have "Mcp-Name"'],
    [{ url, name: 'shop' }, 'unknown option "name"'],
    [{ url, auth: 'token' }, '"auth" must be an object'],
    [{ command: 'npx', auth: {} }, '"auth" is only for a server at a "url"'],
  ])('%j is refused', (options, problem) => {
    const forRoot = (backends: object) => () => McpGatewayModule.forRoot(backends);
    expect(forRoot({ backend: options })).toThrow(
      `McpGatewayModule.forRoot({ name: "gateway" }), "backend": ${problem}`,
    );
    expect(forRoot({ backends: { ok: { url }, bad: options } })).toThrow(
      `McpGatewayModule.forRoot({ name: "gateway" }), "backends.bad": ${problem}`,
    );
  });
});
