import { randomBytes } from 'node:crypto';
import type { ElicitResult } from '@modelcontextprotocol/client';
import {
  check,
  connect,
  drive,
  REVISIONS,
  startSample,
  textOf,
  type Revision,
  type RunningSample,
} from '../support/drive.js';
import { roundRobin } from '../support/round-robin.js';

const MCP_SECRET = randomBytes(32).toString('base64');
const SERVICE = { arguments: { service: 'shop' } };

const startNode = (name: string): Promise<RunningSample> =>
  startSample('20-mrtr', { MCP_SECRET, NODE_NAME: name });

const answerTo = (message: string, isSure = true): ElicitResult => ({
  action: 'accept',
  content: message.startsWith('Where') ? { region: 'eu' } : { isSure },
});

/** How often a node has printed something like this. */
const countOf = ({ lines }: RunningSample, pattern: RegExp): number =>
  lines.filter(line => pattern.test(line)).length;

drive(async () => {
  for (const revision of REVISIONS) await oneNode(revision);
  await twoNodes();
});

/** One handler, written straight through, for clients of either era. */
async function oneNode(revision: Revision): Promise<void> {
  console.log(revision);
  const node = await startNode('node');
  const asked: string[] = [];
  let isSure = true;
  const client = await connect(node.url, revision, {
    user: message => {
      asked.push(message);
      return answerTo(message, isSure);
    },
  });
  const call = async (name: string) => textOf(await client.callTool({ name, ...SERVICE }));

  check('deploy', await call('deploy'), /^build \d{4} of shop runs on eu\.example\.com$/);
  check('its questions', asked.splice(0).join(' '), /^Deploy build \d{4} of shop\? Where is it to run\?$/);
  check('rollBack', await call('rollBack'), 'shop is rolled back in eu');
  check('its questions', asked.splice(0), ['Roll shop back?', 'Where?']);
  isSure = false;
  check('deploy, of a user who is not sure', await call('deploy'), 'shop stays as it is');
  check('its question', asked.length, 1);

  await client.close();
  await node.stop();
  // A 2025-era client is asked while the handler waits; for a 2026-07-28 client, the handler runs again for each answer.
  const runs = revision === '2026-07-28' ? 3 + 2 : 1 + 1;
  check('how often deploy ran from the top', countOf(node, /deploy, from the top/), runs);
  check('and rollBack', countOf(node, /rollBack, from the top/), 1);
  check('builds made', countOf(node, /builds shop/), 2);
}

/**
 * Each round on the next of two nodes, of which the first is killed while the user thinks. For 2026-07-28 only: a call of a
 * 2025-era client lives and dies with its session's node.
 */
async function twoNodes(): Promise<void> {
  console.log('2026-07-28, over two nodes');
  const nodes = [await startNode('node 1'), await startNode('node 2')];
  const proxy = await roundRobin(nodes.map(({ url }) => url));
  const rounds: number[] = [];
  const client = await connect(proxy.url, '2026-07-28', {
    user: async message => {
      rounds.push(proxy.last);
      if (rounds.length === 1) {
        await nodes[proxy.last].kill();
        console.log(`  node ${proxy.last + 1} is killed`);
      }
      console.log(`  the user is asked: ${message}`);
      return answerTo(message);
    },
  });

  const { content } = await client.callTool({ name: 'deploy', ...SERVICE });
  rounds.push(proxy.last);
  await client.close();
  proxy.close();
  const killed = nodes[rounds[0]];
  const other = nodes[1 - rounds[0]];
  await other.stop();

  check(
    'who served the rounds',
    rounds.map(index => nodes[index] === killed),
    [true, false, false],
  );
  const [, build] = await killed.printed(/builds shop (\d+)/);
  check('deploy', textOf({ content }), `build ${build} of shop runs on eu.example.com`);
  const counts = (pattern: RegExp) => [countOf(killed, pattern), countOf(other, pattern)];
  check('runs from the top, of the killed node and the other', counts(/deploy, from the top/), [1, 2]);
  check('builds made', counts(/builds shop/), [1, 0]);
  check('roll-outs', counts(/rolled out shop/), [0, 1]);
}
