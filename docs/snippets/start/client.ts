// #region client
import {
  Client,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

export async function searchFor(
  query: string,
  url = 'http://localhost:3000/mcp',
) {
  const client = new Client(
    { name: 'my-agent', version: '1.0.0' },
    { versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { content } = await client.callTool({
    name: 'search',
    arguments: { query },
  });
  await client.close();
  return content;
}
// #endregion client
