import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import { backendModule } from './backend-app.js';
import { connect, EVERYTHING, everythingProcesses, listen, outcomeOf, startGateway } from './support.js';

// Backends are processes.
jest.setTimeout(120_000);

const echo = { name: 'echo', arguments: { message: 'a' } };

describe('a 2025 backend behind a gateway', () => {
  it('has a connection for each session, which ends with it', async () => {
    const gateway = await startGateway({ backend: EVERYTHING });
    const [one, other] = await Promise.all([connect(gateway.url, 'legacy'), connect(gateway.url, 'legacy')]);
    await Promise.all([one.callTool(echo), other.callTool(echo)]);
    expect(await everythingProcesses()).toHaveLength(3);
    await (one.transport as { terminateSession?(): Promise<void> }).terminateSession?.();
    while ((await everythingProcesses()).length > 2);
    expect(textOf(await other.callTool(echo))).toBe('Echo: a');
    await Promise.all([one.close(), other.close()]);
    await gateway.app.close();
    while ((await everythingProcesses()).length > 0);
  });

  it('is not connected to more often than it may be', async () => {
    const gateway = await startGateway({ backend: EVERYTHING, limits: { maxConnections: 1 } });
    const [one, other] = [await connect(gateway.url, 'legacy'), await connect(gateway.url, 'legacy')];
    const modern = await connect(gateway.url, 'modern');
    expect(textOf(await one.callTool(echo))).toBe('Echo: a');
    for (const client of [other, modern]) {
      expect(await outcomeOf(client.callTool(echo))).toMatchObject({
        code: -32000,
        message: 'The gateway has too many connections open; try again later',
      });
    }
    await Promise.all([one.close(), other.close(), modern.close()]);
    await gateway.app.close();
  });

  it('is connected to for whoever has a request, where another session has none', async () => {
    const gateway = await startGateway({
      backend: EVERYTHING,
      limits: { maxConnections: 1, idleTimeoutMs: 1 },
    });
    const clients = [await connect(gateway.url, 'legacy'), await connect(gateway.url, 'legacy')];
    for (const client of [...clients, ...clients]) {
      // Until the other has been idle for a millisecond.
      let said: string | undefined;
      while (said === undefined) said = await client.callTool(echo).then(textOf, () => undefined);
      expect(said).toBe('Echo: a');
    }
    await Promise.all(clients.map(client => client.close()));
    await gateway.app.close();
  });

  it('asks each client on its own, and tells each of its own', async () => {
    const gateway = await startGateway({ backend: EVERYTHING });
    const clients = await Promise.all(
      ['a', 'b'].map(name =>
        connect(gateway.url, 'legacy', {
          capabilities: { roots: { listChanged: true } },
          prepare: client =>
            client.setRequestHandler('roots/list', () => ({ roots: [{ uri: `file:///${name}` }] })),
        }),
      ),
    );
    for (const [index, client] of clients.entries()) {
      const roots = JSON.stringify(await client.callTool({ name: 'get-roots-list' }));
      expect(roots).toContain(`file:///${['a', 'b'][index]}`);
    }
    const updated = new Inbox<string>();
    const uri = 'demo://resource/dynamic/text/1';
    clients[0].setNotificationHandler('notifications/resources/updated', ({ params }) =>
      updated.put(params.uri),
    );
    await clients[0].subscribeResource({ uri });
    await clients[0].callTool({ name: 'toggle-subscriber-updates' });
    expect(await updated.take()).toBe(uri);
    await Promise.all(clients.map(client => client.close()));
    await gateway.app.close();
  });

  it('goes on with a suspended call for its own caller only, and once', async () => {
    const gateway = await startGateway({
      backend: EVERYTHING,
      limits: { suspendedTimeoutMs: 60_000, maxSuspended: 1 },
    });
    const client = await connect(gateway.url, 'modern', { capabilities: { elicitation: { form: {} } } });
    const params = { name: 'trigger-elicitation-request' };
    const any = {
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
    } as const;
    const call = (more: object = {}) =>
      client.request({ method: 'tools/call', params: { ...params, ...more } }, any, {
        allowInputRequired: true,
      });
    const round = (await call()) as { inputRequests: Record<string, unknown>; requestState: string };
    const [key] = Object.keys(round.inputRequests);
    expect(round.inputRequests[key]).toMatchObject({ method: 'elicitation/create' });

    expect(await outcomeOf(call())).toMatchObject({ code: -32000 });
    const invalid = { code: -32602, message: 'Invalid or expired requestState' };
    expect(await outcomeOf(call({ requestState: 'other' }))).toMatchObject(invalid);
    expect(await outcomeOf(call({ requestState: round.requestState, name: 'echo' }))).toMatchObject(invalid);

    const asked = (await call({ requestState: round.requestState })) as typeof round;
    expect(Object.keys(asked.inputRequests)).toEqual([key]);
    expect(await outcomeOf(call({ requestState: round.requestState }))).toMatchObject(invalid);
    const answers = { requestState: asked.requestState, inputResponses: { [key]: { action: 'cancel' } } };
    expect(JSON.stringify(await call(answers))).toContain('cancelled');
    await client.close();
    await gateway.app.close();
  });

  it('serves clients without a session, who cannot be asked', async () => {
    const gateway = await startGateway({ backend: EVERYTHING, legacy: 'stateless' });
    const call = async (name: string, args: object) => {
      const response = await fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name, arguments: args },
        }),
      });
      return response.text();
    };
    expect(await call('echo', { message: 'a' })).toContain('Echo: a');
    expect(await call('trigger-elicitation-request', {})).toContain('not found');
    await gateway.app.close();
  });

  it('says which clients can be asked to one that cannot', async () => {
    const backend = await listen(backendModule());
    const gateway = await startGateway({ backend: { url: backend.url }, legacy: 'stateless' });
    const client = await connect(
      gateway.url,
      'legacy',
      { capabilities: { elicitation: { form: {} } } },
      false,
    );
    expect(await outcomeOf(client.callTool({ name: 'order' }))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('a 2025 revision over stdio or with a session') }],
    });
    await client.close();
    await gateway.app.close();
    await backend.app.close();
  });
});
