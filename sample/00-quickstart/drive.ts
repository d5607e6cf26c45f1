import type { Client } from '@modelcontextprotocol/client';
import { check, connect, connectStdio, drive, REVISIONS, startSample, textOf } from '../support/drive.js';

const SAMPLE = '00-quickstart';

drive(async () => {
  const sample = await startSample(SAMPLE);
  for (const revision of REVISIONS) {
    console.log(`${revision} over HTTP, ${sample.url}`);
    await tour(await connect(sample.url, revision));
  }
  await sample.stop();
  for (const revision of REVISIONS) {
    console.log(`${revision} over stdio`);
    await tour(await connectStdio(SAMPLE, revision, { args: ['--stdio'] }));
  }
});

async function tour(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  check(
    'tools/list',
    tools.map(({ name }) => name),
    ['greet'],
  );

  const greeting = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
  check('greet({ name: "Ada" })', textOf(greeting), 'Hello, Ada!');

  const nobody = await client.callTool({ name: 'greet', arguments: {} });
  check('greet({})', textOf(nobody), /name/);

  const { contents } = await client.readResource({ uri: 'greeter://languages' });
  const [languages] = contents;
  check(
    'read greeter://languages',
    'text' in languages && languages.text,
    '["English","French","German","Greek"]',
  );

  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'welcome' },
    argument: { name: 'language', value: 'G' },
  });
  check('complete language "G"', completion.values, ['German', 'Greek']);

  const { messages } = await client.getPrompt({
    name: 'welcome',
    arguments: { name: 'Ada', language: 'Greek' },
  });
  check('get prompt welcome', messages[0]?.content, { type: 'text', text: 'Welcome Ada in Greek.' });

  await client.close();
}
