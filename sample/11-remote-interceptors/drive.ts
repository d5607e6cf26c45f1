import { check, connect, drive, errorOf, REVISIONS, startSample, textOf } from '../support/drive.js';

drive(async () => {
  const privacy = await startSample('11-remote-interceptors/privacy');
  process.env.PRIVACY_URL = privacy.url;
  const shop = await startSample('11-remote-interceptors');
  for (const revision of REVISIONS) {
    const client = await connect(shop.url, revision);
    const search = (query: string) => client.callTool({ name: 'search', arguments: { query } });
    console.log(revision);
    const answer = textOf(await search('  LAMP '));
    check('one server’s mutator trims, the other’s masks', answer, '1 result for lamp, ask ***');
    check('a validator refuses, as the policy file configures it', await errorOf(search('x'.repeat(25))), {
      code: -32602,
      message: 'Interceptor validation failed',
    });
    await client.close();
  }

  await privacy.stop();
  const client = await connect(shop.url, REVISIONS[0]);
  const refused = await errorOf(client.callTool({ name: 'search', arguments: { query: 'lamp' } }));
  check('without its privacy server the shop lets nothing pass', refused.code, -32602);
  await client.close();
  await shop.stop();
});
