import { z } from 'zod';
import { check, connect, drive, errorOf, REVISIONS, startSample, textOf } from '../support/drive.js';

const ANY = z.looseObject({});

drive(async () => {
  const sample = await startSample('60-extension');
  for (const revision of REVISIONS) {
    console.log(revision);
    const client = await connect(sample.url, revision, { headers: { 'x-tenant': revision } });
    check('the server tells of the extension', client.getServerCapabilities()?.extensions, {
      'com.example/search': { maxResults: 50 },
    });
    const search = (params: Record<string, unknown>) =>
      client.request({ method: 'example/search', params }, z.looseObject({ hits: z.array(z.string()) }));
    check('a method of the extension', (await search({ query: 'lamp', limit: 1 })).hits, ['desk lamp']);
    check('wrong params', await errorOf(search({ query: '' })), {
      code: -32602,
      message:
        'Invalid arguments for "example/search": query: Too small: expected string to have >=1 characters',
    });
    const reindex = { method: 'example/reindex', params: {} };
    const { code } = await errorOf(client.request(reindex, ANY));
    check('a client that does not know the extension', code, -32021);

    const staff = await connect(sample.url, revision, {
      headers: { 'x-role': 'staff' },
      extensions: { 'com.example/search': {} },
      user: () => ({ action: 'accept', content: { sure: true } }),
    });
    const { rebuilt } = await staff.request(reindex, z.looseObject({ rebuilt: z.boolean() }));
    check('a method that asks its user', rebuilt, true);
    await staff.close();

    const order = () => client.callTool({ name: 'order', arguments: { name: 'tea pot' } });
    for (let count = 1; count <= 3; count++)
      check(`order ${count}`, textOf(await order()), 'ordered tea pot');
    check('order 4', await errorOf(order()), {
      code: -32000,
      message: `The quota of ${revision} is used up`,
    });
    await client.close();
  }
  await sample.stop();
});
