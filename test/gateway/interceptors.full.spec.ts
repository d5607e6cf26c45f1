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

@Injectable()
class Hider {
  /** What happens during a call. */
  meanwhile = async () => {};

  @Mutator({ events: ['tools/list', 'prompts/list', 'resources/list'], phase: 'response' })
  hideAll({ payload }: InterceptorInvocation) {
    const lists = payload as Record<string, unknown>;
    const { tools, prompts, resourceTemplates } = lists;
    return {
      ...lists,
      ...(tools !== undefined && { tools: [] }),
      ...(prompts !== undefined && { prompts: [] }),
      ...(resourceTemplates !== undefined && { resourceTemplates: [] }),
    };
  }

  @Validator({ events: ['tools/call'], timeoutMs: 30_000 })
  async hold() {
    await this.meanwhile();
    return true;
  }
}

describe.each(ERAS)('what interceptors of a gateway hide, for a %s client', era => {
  it.each(['one backend', 'several'])('completes nothing, with %s', async how => {
    const backend = await listen(backendModule());
    const options = { url: backend.url };
    const [gateway, prefix] =
      how === 'several'
        ? [await startGateway({ backends: { a: options } }, [Hider]), 'a_']
        : [await startGateway({ backend: options }, [Hider]), ''];
    const client = await connect(gateway.url, era);
    const argument = { name: 'topic', value: 't' };
    const prompt = { type: 'ref/prompt', name: `${prefix}talk` } as const;
    expect(await outcomeOf(client.complete({ ref: prompt, argument }))).toMatchObject({
      code: -32602,
      message: `Unknown prompt: ${prefix}talk`,
    });
    const template = { type: 'ref/resource', uri: 'user://{id}' } as const;
    expect(await outcomeOf(client.complete({ ref: template, argument }))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('user://{id}'),
    });
    await client.close();
    await gateway.app.close();
    await backend.app.close();
  });

  it('is not used while a backend comes up', async () => {
    const [known, late] = await Promise.all([listen(backendModule()), listen(backendModule())]);
    const port = Number(new URL(late.url).port);
    await late.app.close();
    const gateway = await startGateway(
      {
        backends: {
          known: { url: known.url },
          late: { url: late.url, reconnectDelayMs: 1, maxReconnectDelayMs: 1 },
        },
      },
      [Hider],
    );
    const client = await connect(gateway.url, era);
    const call = () => outcomeOf(client.callTool({ name: 'late_pid' }));
    expect(await call()).toMatchObject({ code: -32603 });
    const hider = gateway.app.get(Hider);
    let again: Running | undefined;
    hider.meanwhile = async () => void (again ??= await listen(backendModule(), port));
    expect(await call()).toMatchObject({ code: -32603 });
    await hider.meanwhile();
    expect(await call()).toMatchObject({ code: -32602, message: 'Unknown tool: late_pid' });
    await client.close();
    await gateway.app.close();
    await Promise.all([known.app.close(), again?.app.close()]);
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
