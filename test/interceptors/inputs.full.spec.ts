import { Injectable } from '@nestjs/common';
import { deny, Mutator, respondWith, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { connect, ERAS, EVERYTHING, outcomeOf, startGateway } from '../gateway/support.js';

@Injectable()
class Policy {
  @Mutator({ events: ['elicitation/create'] })
  sign({ payload }: InterceptorInvocation<'elicitation/create', 'request'>) {
    return { ...payload, message: `${String(payload['message'])} (the shop)` };
  }

  @Validator({ events: ['elicitation/create'], phase: 'response' })
  noSecrets({ payload }: InterceptorInvocation<'elicitation/create', 'response'>) {
    return payload.content?.['size'] !== 'secret' || deny('That is a secret');
  }

  @Mutator({ events: ['roots/list'] })
  noRoots() {
    return respondWith({ roots: [{ uri: 'file:///nowhere' }] });
  }
}

describe('what a 2025-era server behind a gateway asks', () => {
  it.each(ERAS)('passes the chain on its way to a %s client', async era => {
    const { app, url } = await startGateway({ backend: EVERYTHING }, [Policy]);
    const asked: string[] = [];
    const client = await connect(url, era, {
      capabilities: { elicitation: { form: {} }, roots: {} },
      prepare: one =>
        one.setRequestHandler('elicitation/create', ({ params }) => {
          asked.push(params.message);
          return { action: 'accept', content: { size: 'secret' } };
        }),
    });
    expect(
      JSON.stringify(await outcomeOf(client.callTool({ name: 'trigger-elicitation-request' }))),
    ).toContain('Interceptor validation failed');
    expect(asked).toEqual([expect.stringMatching(/ \(the shop\)$/)]);
    expect(JSON.stringify(await client.callTool({ name: 'get-roots-list' }))).toContain('file:///nowhere');
    await client.close();
    await app.close();
  });
});
