import { check, connect, drive, REVISIONS, startSample, textOf } from '../support/drive.js';
import { isInstalled, startNginx } from './nginx.js';

const [MODERN] = REVISIONS;

async function startRegion(region: string) {
  process.env.REGION = region;
  return startSample('30-header-routing');
}

/** Sends a call whose header says one region and whose body says another. */
async function send(url: string, header: string, region: string, version: string = MODERN) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': 'query',
      'mcp-param-region': header,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'query',
        arguments: { region, sql: 'select 1' },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': MODERN,
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  const body = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  const { error } = (isJson ? JSON.parse(body) : {}) as { error?: { code: number; message: string } };
  return { status: response.status, code: error?.code, message: error?.message };
}

drive(async () => {
  if (!isInstalled()) {
    console.log('  skipped: nginx is not installed (on Debian: apt-get install nginx-light)');
    return;
  }
  const eu = await startRegion('eu');
  const us = await startRegion('us');
  const nginx = await startNginx(eu.url, us.url);

  const client = await connect(nginx.url, MODERN);
  const { tools } = await client.listTools();
  check('the tool says which argument to repeat', tools[0].inputSchema.properties?.region, {
    type: 'string',
    enum: ['eu', 'us'],
    description: 'Where the data is',
    'x-mcp-header': 'Region',
  });
  for (const region of ['eu', 'us']) {
    const answer = textOf(await client.callTool({ name: 'query', arguments: { region, sql: 'select 1' } }));
    check(`a call for ${region} reaches it`, answer, `${region} answers for ${region}: select 1`);
  }
  await client.close();

  check(
    'a spoofed header is routed by nginx, and refused by the application',
    await send(nginx.url, 'us', 'eu'),
    {
      status: 400,
      code: -32020,
      message: 'Header mismatch: the Mcp-Param-Region header differs from region in the body',
    },
  );
  const refused = { status: 400, code: undefined, message: undefined };
  check('an unknown region is refused by nginx', await send(nginx.url, 'mars', 'mars'), refused);
  check(
    'and so is a revision in which nobody would check the header',
    await send(nginx.url, 'us', 'eu', '2025-11-25'),
    refused,
  );

  await nginx.stop();
  await us.stop();
  await eu.stop();
});
