import { check, drive, startSample } from '../support/drive.js';

interface Listed {
  readonly entries: readonly { readonly name: string }[];
  readonly missing: readonly { readonly name: string; readonly why: string }[];
}

drive(async () => {
  const sample = await startSample('51-explorer');
  const api = (path: string) => new URL(`/mcp-explorer/api/${path}`, sample.url);
  const post = async <T>(path: string, body: object): Promise<T> => {
    const headers = { 'content-type': 'application/json', 'mcp-explorer': '1' };
    const answer = await fetch(api(path), { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as T;
  };
  const toolsOf = async (caller: object) => {
    const { lists } = await post<{ lists: Listed[] }>('callers', { server: 'shop', caller });
    return lists[0];
  };

  const page = await fetch(new URL('/mcp-explorer', sample.url));
  check('the page', [page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);

  const anonymous = await toolsOf({ kind: 'anonymous' });
  check(
    'the tools of an anonymous caller',
    anonymous.entries.map(({ name }) => name),
    ['search', 'order'],
  );
  check(
    'why others are missing',
    anonymous.missing.map(({ name, why }) => `${name}: ${why}`),
    [
      'customer: @Visible(RolesGuard) hides it',
      'wipe: The interceptor local/hideWipe removes it from the list',
    ],
  );
  const clerk = await toolsOf({ kind: 'token', token: 'token-of-alice' });
  check(
    'the tools of Alice',
    clerk.entries.map(({ name }) => name),
    ['search', 'order', 'customer'],
  );

  const search = { name: 'search', arguments: { query: ' a very long query ' } };
  const { chain } = await post<{ chain: { turns: { id: string; outcome: string }[] }[] }>('call', {
    server: 'shop',
    caller: { kind: 'anonymous' },
    method: 'tools/call',
    params: search,
  });
  check(
    'what the interceptors did',
    chain.flatMap(({ turns }) => turns.map(({ id, outcome }) => `${id} ${outcome}`)),
    [
      'local/politeQueries pass',
      'local/shortQueries deny',
      'local/trimQueries mutated',
      'local/secret-redactor unmodified',
    ],
  );
  await sample.stop();
});
