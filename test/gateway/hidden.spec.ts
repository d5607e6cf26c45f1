import { Injectable } from '@nestjs/common';
import { Mutator, type InterceptorInvocation } from 'nestjs-mcp';
import { canonicalUri } from '../../lib/interceptors/protocol/subject.js';
import { fakeBackend } from './fake-backend.js';
import { connect, ERAS, outcomeOf, startGateway } from './support.js';

@Injectable()
class Hide {
  @Mutator({ events: ['resources/list'], phase: 'response' })
  secret({ payload }: InterceptorInvocation<'resources/list', 'response'>) {
    const resources = payload.resources?.filter(({ uri }) => !uri.includes('secret'));
    return resources && { ...payload, resources };
  }

  @Mutator({ events: ['tools/list'], phase: 'response' })
  nothing() {
    return undefined;
  }
}

const named = (uri: string) => ({ uri, name: uri });

/** A server of files that knows each of them under many names. */
const filesBackend = (uriTemplate?: string) =>
  fakeBackend(
    {
      'resources/list': ({ reply }) =>
        reply({ resources: ['file:///secret.txt', 'file:///open.txt', 'file:///o/%61'].map(named) }),
      'resources/templates/list': ({ reply }) =>
        reply({ resourceTemplates: uriTemplate === undefined ? [] : [{ uriTemplate, name: 't' }] }),
      'resources/read': ({ params, reply }) => reply({ contents: [{ uri: params['uri'], text: 'read' }] }),
    },
    'modern',
    { resources: {} },
  );

describe.each(ERAS)('a resource that a gateway hides, for a %s client', era => {
  it.each(['with a template that shows everything', 'without a template'])(
    'is not read by another name, %s',
    async how => {
      const backend = await filesBackend(how.startsWith('without') ? undefined : 'file://{+path}');
      const gateway = await startGateway({ backend: { url: backend.url } }, [Hide]);
      const client = await connect(gateway.url, era);
      const read = (uri: string) => outcomeOf(client.readResource({ uri }));
      for (const uri of [
        'file:///secret.txt',
        'file:///%73ecret.txt',
        'file:///%2573ecret.txt',
        'FILE:///secret.txt',
        'file:///SECRET.txt',
        'file:///x/../secret.txt',
        'file:///x/%2e%2e/secret.txt',
        'file:///./secret.txt#part',
        'file:////secret.txt',
        'file://localhost/secret.txt',
        'file:\\\\\\secret.txt',
      ]) {
        expect([uri, await read(uri)]).toMatchObject([uri, { code: -32602 }]);
      }
      for (const uri of ['file:///open.txt', 'file:///%6Fpen.txt', 'file:///o/%61', 'file:///o/a']) {
        expect([uri, await read(uri)]).toMatchObject([uri, { contents: [{ text: 'read' }] }]);
      }
      const other = how.startsWith('without') ? { code: -32602 } : { contents: [{ text: 'read' }] };
      expect(await read('file:///other.txt')).toMatchObject(other);
      await client.close();
      await gateway.app.close();
      backend.close();
    },
  );
});

it('a URI that is none is like itself only', () => {
  expect(canonicalUri('no uri')).toBe('no uri');
  expect(canonicalUri('x:%FF')).toBe('x:%ff');
});

it('what a list hides is looked up within the time of the chain', async () => {
  const backend = await fakeBackend({ 'tools/list': () => {} });
  const gateway = await startGateway({ backend: { url: backend.url }, interceptors: { timeoutMs: 50 } }, [
    Hide,
  ]);
  const client = await connect(gateway.url, 'legacy');
  expect(await outcomeOf(client.callTool({ name: 't' }))).toMatchObject({
    code: -32000,
    message: 'Interceptor execution timeout',
  });
  await client.close();
  await gateway.app.close();
  backend.close();
});
