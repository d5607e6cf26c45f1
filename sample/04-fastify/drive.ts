import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import { check, connect, drive, REVISIONS, startSample, textOf } from '../support/drive.js';

const APPLES = 'stock://apples';

drive(async () => {
  for (const revision of REVISIONS) {
    const sample = await startSample('04-fastify');
    console.log(`${revision} at ${new URL(sample.url).pathname}`);
    const client = await connect(sample.url, revision);

    const progress: string[] = [];
    const counted = await client.callTool(
      { name: 'count', arguments: { shelves: 3 } },
      { onprogress: ({ progress: done, total, message }) => progress.push(`${done}/${total} ${message}`) },
    );
    check('a tool', textOf(counted), '3 shelves counted');
    check('its progress', progress, ['1/3 shelf 1', '2/3 shelf 2', '3/3 shelf 3']);

    const hangUp = new AbortController();
    const audit = client.callTool(
      { name: 'audit' },
      { signal: hangUp.signal, onprogress: () => hangUp.abort('changed my mind') },
    );
    const outcome = await audit.then(
      () => 'finished',
      () => 'gave up',
    );
    check('a cancelled call', outcome, 'gave up');
    const [line] = await sample.printed(/Audit cancelled/);
    check('the tool noticed', line, 'Audit cancelled');

    const subscription = await subscribe(client);
    const updated = new Promise<string>(resolve =>
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri)),
    );
    await client.callTool({ name: 'take', arguments: { item: 'apples', count: 3 } });
    check('an update', await updated, APPLES);
    const { contents } = await client.readResource({ uri: APPLES });
    check('the resource now', contents, [{ uri: APPLES, mimeType: 'text/plain', text: '7' }]);

    const changed = new Promise<void>(resolve =>
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve()),
    );
    const { status } = await fetch(new URL('promotions', sample.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'cider' }),
    });
    check('a REST route adds a tool', status, 201);
    await changed;
    const { tools } = await client.listTools();
    check(
      'the client was told',
      tools.map(({ name }) => name),
      ['take', 'count', 'audit', 'claim-cider'],
    );
    check('and calls it', textOf(await client.callTool({ name: 'claim-cider' })), 'cider!');

    await sample.stop();
    if (subscription) check('the server ended its stream', await subscription.closed, 'graceful');
    await client.close();
  }
});

/** Since 2026-07-28 a client listens to what it names; before, its session tells it of everything but resources. */
async function subscribe(client: Client): Promise<McpSubscription | undefined> {
  if (client.getProtocolEra() === 'modern') {
    return client.listen({ toolsListChanged: true, resourceSubscriptions: [APPLES] });
  }
  await client.subscribeResource({ uri: APPLES });
  return undefined;
}
