import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { check, connect, drive, errorOf, REVISIONS, startSample, textOf } from '../support/drive.js';
import { roundRobin } from '../support/round-robin.js';
import { isInstalled, startRedis } from '../support/redis.js';

const NODES = ['node 1', 'node 2', 'node 3'];

drive(async () => {
  if (!isInstalled()) {
    console.log('  skipped: redis-server is not installed (on Debian: apt-get install redis-server)');
    return;
  }
  const redis = await startRedis();
  const env = { REDIS_URL: redis.url, MCP_SECRET: randomBytes(32).toString('hex') };
  const nodes = await Promise.all(NODES.map(node => startSample('41-three-nodes', { ...env, NODE: node })));
  const proxy = await roundRobin(nodes.map(({ url }) => url));

  const clients = await Promise.all(
    REVISIONS.map(async revision => {
      const client = await connect(proxy.url, revision, {
        user: () => ({ action: 'accept', content: { bread: 'rye' } }),
      });
      const updates = new PassThrough({ objectMode: true });
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        updates.write(params.uri);
      });
      return { revision, client, updates };
    }),
  );
  const [modern, legacy] = clients;
  await modern.client.listen({ resourceSubscriptions: ['bakery://menu'] });
  await legacy.client.subscribeResource({ uri: 'bakery://menu' });

  for (const { revision, client } of clients) {
    const call = async (name: string) => textOf(await client.callTool({ name }));
    const answers = new Set<string>();
    for (let index = 0; index < 6; index++) answers.add(await call('where'));
    check(`${revision}: calls are answered by`, [...answers].sort(), NODES);
    check(`${revision}: a question finds its call`, await call('order'), /^node \d has ordered rye$/);
  }

  const { updates } = legacy;
  const told = Promise.all(clients.map(client => once(client.updates, 'data')));
  check('a change', textOf(await modern.client.callTool({ name: 'change' })), /has changed the menu$/);
  check('both clients hear of it, from the node where they listen', await told, [
    ['bakery://menu'],
    ['bakery://menu'],
  ]);

  // A call that has sent something can be resumed on another node, so its client learns that its own node is dead.
  const begun = new EventEmitter();
  const onprogress = () => begun.emit('progress');
  const progress = once(begun, 'progress');
  const baking = errorOf(legacy.client.callTool({ name: 'bake' }, { onprogress }));
  const dead = await Promise.any(nodes.map(async node => (await node.printed(/^baking/), node)));
  await progress;
  await dead.kill();
  console.log(`  ${NODES[nodes.indexOf(dead)]} is killed in the middle of a call`);
  check(`${legacy.revision}: the call ends with`, await baking, {
    code: -32000,
    message: 'The server stopped before it answered; try again',
  });
  const again = legacy.client.callTool({ name: 'bake' }, { onprogress });
  check(`${legacy.revision}: the same client tries again`, textOf(await again), 'a loaf');

  const later = once(updates, 'data');
  await legacy.client.callTool({ name: 'change' });
  check(`${legacy.revision}: and still hears of changes`, await later, ['bakery://menu']);

  await Promise.all(clients.map(({ client }) => client.close()));
  proxy.close();
  await Promise.all(nodes.filter(node => node !== dead).map(node => node.stop()));
  await redis.stop();
});
