import { Injectable } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { deny, Mutator, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { textOf } from '../fixtures/matrix.js';
import { backendModule } from './backend-app.js';
import { connect, ERAS, listen, outcomeOf, startGateway, type Running } from './support.js';

@Injectable()
class Policy {
  @Validator({ events: ['tools/call'] })
  polite({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return payload.arguments?.['text'] !== 'rude' || deny('Be polite', { path: 'arguments.text' });
  }

  @Mutator({ events: ['tools/call'], phase: 'both', priority: { request: 1, response: 1 } })
  stars({ payload, phase }: InterceptorInvocation) {
    const [from, to] = phase === 'request' ? ['secret', '***'] : ['public', 'PUBLIC'];
    const text = JSON.stringify(payload);
    return text.includes(from) ? (JSON.parse(text.replace(from, to)) as object) : undefined;
  }

  @Mutator({ events: ['tools/list'], phase: 'response' })
  hideBroken({ payload }: InterceptorInvocation<'tools/list', 'response'>) {
    return { ...payload, tools: payload.tools.filter(({ name }) => name !== 'broken') };
  }

  @Validator({ events: ['resources/subscribe', 'resources/read'] })
  noUsers({ payload }: InterceptorInvocation<'resources/read', 'request'>) {
    return !payload.uri.startsWith('user:');
  }
}

describe.each(ERAS)('interceptors of a gateway, for a %s client', era => {
  let backend: Running;
  let gateway: Running;
  let client: Client;
  const echo = (text: string) => client.callTool({ name: 'echo', arguments: { text } });

  beforeAll(async () => {
    backend = await listen(backendModule());
    gateway = await startGateway({ backend: { url: backend.url } }, [Policy]);
    client = await connect(gateway.url, era);
  });
  afterAll(async () => {
    await client?.close();
    await gateway?.app.close();
    await backend?.app.close();
  });

  it('refuse what crosses', async () => {
    expect(await outcomeOf(echo('rude'))).toMatchObject({
      code: -32602,
      data: { validationErrors: [{ message: 'Be polite', path: 'arguments.text' }] },
    });
    expect(await outcomeOf(client.readResource({ uri: 'user://7' }))).toMatchObject({ code: -32602 });
  });

  it('change what crosses, in both directions', async () => {
    expect(textOf(await echo('a secret'))).toBe('a ***');
    expect(textOf(await echo('is public'))).toBe('is PUBLIC');
  });

  it('keep what they hide from being used, on whatever page it is', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('broken');
    expect(await outcomeOf(client.callTool({ name: 'broken' }))).toMatchObject({
      code: -32602,
      message: 'Unknown tool: broken',
    });
    await client.callTool({ name: 'grow', arguments: { name: `late-${era}` } });
    expect(textOf(await client.callTool({ name: `late-${era}` }))).toBe(`late-${era}`);
  });

  it('decide on subscriptions', async () => {
    const uri = 'user://7';
    const refused =
      era === 'modern' ? client.listen({ resourceSubscriptions: [uri] }) : client.subscribeResource({ uri });
    expect(await outcomeOf(refused)).toMatchObject({ message: 'Interceptor validation failed' });
  });
});

describe('a gateway that passes interceptors through', () => {
  it.each(ERAS)('lists and runs those of its backend, for a %s client', async era => {
    const backend = await listen(backendModule('backend', false, { expose: true }, [Policy]));
    const gateway = await startGateway({ backend: { url: backend.url }, passthrough: true });
    const client = await connect(gateway.url, era);
    const any = {
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
    } as const;
    expect(client.getServerCapabilities()?.extensions).toHaveProperty([
      'io.modelcontextprotocol/interceptors',
    ]);
    expect(await client.request({ method: 'interceptors/list' }, any)).toMatchObject({
      interceptors: [{ name: 'polite' }, { name: 'stars' }, { name: 'hideBroken' }, { name: 'noUsers' }],
    });
    const params = {
      name: 'polite',
      event: 'tools/call',
      phase: 'request',
      payload: { name: 'echo', arguments: { text: 'rude' } },
    };
    expect(await client.request({ method: 'interceptor/invoke', params }, any)).toMatchObject({
      valid: false,
    });
    await client.close();
    await gateway.app.close();
    await backend.app.close();
  });

  it('does not, by default', async () => {
    const backend = await listen(backendModule('backend', false, { expose: true }, [Policy]));
    const gateway = await startGateway({ backend: { url: backend.url } });
    const client = await connect(gateway.url, 'modern');
    expect(client.getServerCapabilities()?.extensions).toBeUndefined();
    await client.close();
    await gateway.app.close();
    await backend.app.close();
  });
});
