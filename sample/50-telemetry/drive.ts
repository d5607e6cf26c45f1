import { randomBytes } from 'node:crypto';
import {
  check,
  connect,
  drive,
  REVISIONS,
  startSample,
  textOf,
  type RunningSample,
} from '../support/drive.js';
import type { PrintedSpan } from './tracing.js';

type FoundSpan = PrintedSpan & { readonly process: string };

const spansOf = (process: string, { lines }: RunningSample): FoundSpan[] =>
  lines
    .filter(line => line.startsWith('span '))
    .map(line => ({ process, ...(JSON.parse(line.slice(5)) as PrintedSpan) }));

/** The tree under a span, a line for each span. */
const treeOf = (spans: readonly FoundSpan[], parentId: string, indent = ''): string[] =>
  spans
    .filter(span => span.parentId === parentId)
    .flatMap(({ process, name, spanId }) => [
      `${indent}${process}: ${name}`,
      ...treeOf(spans, spanId, `${indent}  `),
    ]);

/** Stands for the span of a caller that has its own telemetry. */
const newCaller = () => {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, _meta: { traceparent: `00-${traceId}-${spanId}-01` } };
};

drive(async () => {
  const shop = await startSample('50-telemetry/shop');
  const gateway = await startSample('50-telemetry', { SHOP_URL: shop.url });
  const user = () => ({ action: 'accept' as const, content: { size: 'M' } });
  const searches = REVISIONS.map(() => newCaller());
  const order = newCaller();
  for (const [index, revision] of REVISIONS.entries()) {
    console.log(revision);
    const client = await connect(gateway.url, revision, { user });
    const { _meta } = searches[index];
    const found = await client.callTool({ name: 'search', arguments: { query: 'lamp' }, _meta });
    check('a call', textOf(found), '1 result for lamp');
    if (revision === '2026-07-28') {
      const ordered = await client.callTool({ name: 'order', _meta: order._meta });
      check('a call of two rounds', textOf(ordered), 'ordered M');
    }
    await client.close();
  }
  const { info } = (await (await fetch(new URL('/ready', gateway.url))).json()) as { info: unknown };
  check('health', info, { mcp: { status: 'up', servers: { gateway: 'up' }, backends: { gateway: 'up' } } });

  await gateway.stop();
  await shop.stop();
  const spans = [...spansOf('gateway', gateway), ...spansOf('shop', shop)];
  const trees = [...searches, order].map(({ traceId, spanId }) => {
    const tree = treeOf(
      spans.filter(span => span.traceId === traceId),
      spanId,
    );
    console.log(`trace ${traceId}\n  ${tree.join('\n  ')}`);
    return tree;
  });
  check('the second search', trees[1], [
    'gateway: server tools/call search',
    '  gateway: internal interceptor short-queries',
    '  gateway: client tools/call search',
    '    shop: server tools/call search',
    '      shop: internal query the catalogue',
  ]);
  for (const process of ['gateway', 'shop']) {
    const [first, second] = spans.filter(
      span => span.process === process && span.name === 'server tools/call order',
    );
    check(`the second round in the ${process} is linked to the first`, second.links, [first.spanId]);
  }
});
