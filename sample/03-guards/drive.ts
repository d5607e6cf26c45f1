import { check, connect, drive, errorOf, REVISIONS, startSample, textOf } from '../support/drive.js';

const ALICE = 'token-of-alice';
const BOB = 'token-of-bob';

drive(async () => {
  for (const revision of REVISIONS) {
    const sample = await startSample('03-guards');
    console.log(revision);

    const rest = (path: string, token?: string) =>
      fetch(new URL(path, sample.url), { headers: token ? { authorization: `Bearer ${token}` } : {} });
    check('REST without a token', (await rest('/accounts/1')).status, 401);
    check('REST as Bob', await (await rest('/accounts/1', BOB)).json(), { balance: 100 });
    check('REST, no such account', (await rest('/accounts/9', BOB)).status, 404);

    const stranger = await fetch(sample.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    check('MCP without a token', stranger.status, 401);
    check('its body', await stranger.json(), {
      jsonrpc: '2.0',
      error: { code: -32000, message: 'Who are you?' },
      id: null,
    });

    const bob = await connect(sample.url, revision, { token: BOB });
    const alice = await connect(sample.url, revision, { token: ALICE });
    const closeAccount = { name: 'closeAccount', arguments: { id: '2' } };
    check('whoAmI as Bob', textOf(await bob.callTool({ name: 'whoAmI' })), 'Bob');
    check('whoAmI as Alice', textOf(await alice.callTool({ name: 'whoAmI' })), 'Alice');
    check('closeAccount as Bob', await errorOf(bob.callTool(closeAccount)), {
      code: -32000,
      message: 'This takes the role admin',
    });
    check('with bad arguments', await errorOf(bob.callTool({ name: 'closeAccount', arguments: {} })), {
      code: -32000,
      message: 'This takes the role admin',
    });
    check(
      'closeAccount as Alice',
      textOf(await alice.callTool(closeAccount)),
      'Closed account 2, paid out 250',
    );
    const [call] = await sample.printed(/mcp AccountTools\.\w+/);
    check('the interceptor logged', call, 'mcp AccountTools.whoAmI');

    const lost = await alice.callTool({ name: 'balance', arguments: { id: '2' } });
    check(
      'the filter answered',
      { isError: lost.isError, text: textOf(lost) },
      {
        isError: true,
        text: 'Account 2 does not exist',
      },
    );

    const anybody = await connect(new URL('/status/mcp', sample.url).href, revision);
    check('the public server', textOf(await anybody.callTool({ name: 'status' })), 'open');

    await Promise.all([bob.close(), alice.close(), anybody.close()]);
    await sample.stop();
  }
});
