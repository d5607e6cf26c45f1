import { check, connect, drive, errorOf, REVISIONS, startSample, textOf } from '../support/drive.js';

drive(async () => {
  const sample = await startSample('67-many-tools');
  for (const revision of REVISIONS) {
    console.log(revision);
    const namesAt = async (url: string) => {
      const client = await connect(url, revision);
      const { tools } = await client.listTools();
      await client.close();
      return tools
        .map(({ name }) => name)
        .sort()
        .join();
    };
    const all = 'find_order,list_invoices,pay_invoice,refund_order';
    check('the endpoint has all tools', await namesAt(sample.url), all);
    const billing = 'list_invoices,pay_invoice,refund_order';
    check('a set has its own', await namesAt(`${sample.url}/x/billing`), billing);
    check('its tools that only read', await namesAt(`${sample.url}/x/billing/readonly`), 'list_invoices');

    const url = sample.url.replace('/mcp', '/search/mcp');
    check(
      'the search lists two tools, and one that stays',
      await namesAt(url),
      'call_tool,find_order,search_tools',
    );
    const client = await connect(url, revision);
    const found = await client.callTool({
      name: 'search_tools',
      arguments: { query: 'give the money back' },
    });
    check('it finds a tool by its hint', textOf(found), /^refund_order\n/);
    const call = { name: 'call_tool', arguments: { name: 'refund_order', arguments: { id: 7 } } };
    check('and calls it', textOf(await client.callTool(call)), 'Order 7 is refunded');
    await client.close();

    const orders = await connect(`${sample.url}/x/orders`, revision);
    const pay = orders.callTool({ name: 'pay_invoice', arguments: { id: 7 } });
    check('a tool of another set is unknown', (await errorOf(pay)).code, -32602);
    await orders.close();
  }
  await sample.stop();
});
