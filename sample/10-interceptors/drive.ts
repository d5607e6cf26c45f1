import { check, connect, drive, errorOf, REVISIONS, startSample, textOf } from '../support/drive.js';

drive(async () => {
  const sample = await startSample('10-interceptors');
  for (const revision of REVISIONS) {
    const client = await connect(sample.url, revision);
    const search = (query: string) => client.callTool({ name: 'search', arguments: { query } });
    console.log(revision);

    const { tools } = await client.listTools();
    check(
      'a mutator hides a tool',
      tools.map(({ name }) => name),
      ['search', 'customer'],
    );
    check(
      'which cannot be called',
      (await errorOf(client.callTool({ name: 'wipe' }))).message,
      /Unknown tool: wipe/,
    );
    check('an audit validator lets pass', textOf(await search('a rather long query')), /2 results/);
    const byName = errorOf(client.callTool({ name: 'customer', arguments: { id: 'ada' } }));
    check('one that an override makes active refuses', (await byName).code, -32602);
    check('a validator refuses', (await errorOf(search('competitor'))).code, -32602);
    check('a mutator answers by itself', textOf(await search('lamp')), /cached/);
    const customer = textOf(await client.callTool({ name: 'customer', arguments: { id: '7' } }));
    check('a mutator hides the card', customer, /\*\*\*\* \*\*\*\* \*\*\*\* \*\*\*\*/);
    check('and a ready-made one the key', customer, /REDACTED/);
    check('too large a call is refused', (await errorOf(search('x'.repeat(20_000)))).code, -32602);
    await client.close();
  }
  await sample.stop();
});
