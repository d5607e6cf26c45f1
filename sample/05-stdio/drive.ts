import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { check, connectStdio, drive, mainOf, REVISIONS, textOf } from '../support/drive.js';

const SAMPLE = '05-stdio';
const NOISE = [
  'console.log, while the application starts',
  'console.log, in a tool',
  'process.stdout.write, in a tool',
  'Logger, in a tool',
];

drive(async () => {
  await raw();
  for (const revision of REVISIONS) {
    console.log(revision);
    let stderr = '';
    const client = await connectStdio(SAMPLE, revision, { onStderr: chunk => (stderr += chunk) });
    check('keep', textOf(await client.callTool({ name: 'keep', arguments: { text: 'milk' } })), 'note 1');
    const { contents } = await client.readResource({ uri: 'notes://all' });
    check('the notes', contents, [{ uri: 'notes://all', mimeType: 'application/json', text: '["milk"]' }]);
    await client.close();
    check(
      'what was printed',
      NOISE.filter(line => stderr.includes(line)),
      NOISE,
    );
  }
});

/** Speaks the protocol by hand, to see every byte that the process writes. */
async function raw(): Promise<void> {
  console.log('stdout, line by line');
  const server = spawn(process.execPath, [mainOf(SAMPLE)], { stdio: ['pipe', 'pipe', 'pipe'] });
  const output = Promise.all([
    text(server.stdout),
    text(server.stderr),
    once(server, 'exit') as Promise<[number | null]>,
  ]);
  const messages = [
    {
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'raw', version: '1.0.0' },
      },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'keep', arguments: { text: 'milk' } } },
  ];
  for (const message of messages) server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  server.stdin.end();

  const [stdout, stderr, [exitCode]] = await output;
  const lines = stdout.trimEnd().split('\n');
  const answers = lines.map(line => JSON.parse(line) as { jsonrpc: string; id: number });
  check(
    'every line is JSON-RPC',
    answers.map(({ jsonrpc, id }) => ({ jsonrpc, id })),
    [
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', id: 2 },
    ],
  );
  check(
    'the rest is on stderr',
    NOISE.filter(line => stderr.includes(line)),
    NOISE,
  );
  check('the process ends with stdin', exitCode, 0);
}
