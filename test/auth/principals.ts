import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, McpServerRegistry, Resource, Tool } from 'nestjs-mcp';
import { AllowAnonymous, McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { RateLimit } from 'nestjs-mcp/interceptors';
import { deferred } from '../fixtures/deferred.js';
import { EventReader } from '../fixtures/event-reader.js';
import { startApp, type TestApp, type TestAppOptions } from '../fixtures/matrix.js';
import { endSession, openSession, post } from '../fixtures/raw-session.js';
import { bearer, trusting } from './callers.js';
import { ask, listenHeaders, listenMessage, textIn } from './raw-caller.js';

const SECRET = 'a secret that all nodes of the shop share';
const [OPEN, CLOSED] = ['state://open', 'state://closed'];
const YES = { action: 'accept', content: { size: 'L' } };

const ADA = bearer('ada', 'files');
const GRACE = bearer('grace');

@Injectable()
class Tools {
  readonly release = deferred();

  @AllowAnonymous()
  @Tool()
  whoAmI(@Ctx() { authInfo }: McpContext) {
    return String(authInfo?.extra?.['sub']);
  }

  @Tool()
  async order(@Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('size', {
      message: 'Which size?',
      schema: { type: 'object', properties: { size: { type: 'string' } } } as const,
    });
    return `${this.whoAmI(ctx)} ordered ${String(content?.['size'])}`;
  }

  @Tool()
  async work(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1);
    await this.release.promise;
    return 'done';
  }

  @Tool()
  limited() {
    return 'within the limit';
  }

  @AllowAnonymous()
  @Resource({ uri: OPEN })
  open() {
    return 'open';
  }

  @RequireScopes('files')
  @Resource({ uri: CLOSED })
  closed() {
    return 'closed';
  }
}

const Limit = RateLimit({ points: 2, duration: 600, when: { name: 'limited' } });

/** A node of an application with two principals: Ada has the scope `files`, and Grace has none. */
export const startNode = (
  imports: NonNullable<TestAppOptions['module']>['imports'] = [],
  mrtr: object = {},
): Promise<TestApp> =>
  startApp([Tools, Limit], {
    mcp: { mrtr: { secret: SECRET, ...mrtr } },
    module: {
      imports: [
        McpAuthModule.forRoot({
          authorizationServers: ['https://login.example'],
          lists: 'allowed',
          verifier: trusting,
        }),
        ...imports,
      ],
    },
    forceCloseConnections: true,
  });

type Headers = Record<string, string>;

/**
 * Tests that two principals reach nothing of each other.
 * @param nodes of the application, the first and the last: one node, or two that share everything
 */
export function describePrincipals(nodes: () => readonly TestApp[]): void {
  let first: string;
  let last: string;
  beforeEach(async () => {
    [first, last] = await Promise.all([nodes()[0], nodes().at(-1)!].map(node => node.url()));
  });

  const registry = () => nodes()[0].app.get(McpServerRegistry);
  const session = (url: string, headers: Headers = {}) =>
    openSession(url, { headers, capabilities: { elicitation: {} } });
  const as = (headers: Headers, own: Headers) => ({ ...own, ...headers });
  const call = (name: string) => ({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name, arguments: {}, _meta: { progressToken: 'p' } },
  });
  const said = async (url: string, headers: Headers, name = 'whoAmI') => {
    const answer = await post(url, headers, call(name));
    return answer.status === 200 ? textIn((await answer.json()) as never) : answer.status;
  };
  const modern = (url: string, headers: Headers, name: string, more = {}) =>
    ask({ url, era: 'modern', headers }, 'tools/call', { name, arguments: {}, ...more });

  it('sessions: another principal gets 404', async () => {
    const { authorization: _, ...own } = await session(first, ADA);
    for (const url of [last, first]) {
      for (const headers of [as(GRACE, own), own]) {
        expect(await said(url, headers)).toBe(404);
        expect((await EventReader.open(url, headers)).status).toBe(404);
        expect((await endSession(url, headers)).status).toBe(404);
      }
      expect(await said(url, as(ADA, own))).toBe('ada');
    }
  });

  it('sessions: an anonymous one belongs to the first principal', async () => {
    const own = await session(first);
    expect(await said(last, own)).toBe('undefined');
    expect(await said(first, as(ADA, own))).toBe('ada');
    for (const url of [last, first]) {
      expect(await said(url, own)).toBe(404);
      expect(await said(url, as(GRACE, own))).toBe(404);
      expect(await said(url, as(ADA, own))).toBe('ada');
    }
  });

  it('streams: the id of an event resumes the stream of its principal only', async () => {
    const own = await session(first, ADA);
    const stream = await EventReader.open(first, own, call('work'));
    const progress = await stream.message();
    const resumes = (headers: Headers) => ({ ...headers, 'last-event-id': progress!.id! });
    expect((await EventReader.open(last, resumes(as(GRACE, own)))).status).toBe(404);
    const stolen = await EventReader.open(last, resumes(await session(last, GRACE)));
    const resumed = await EventReader.open(last, resumes(own));
    nodes()[0].app.get(Tools).release.resolve();
    expect(await resumed.messages()).toEqual([
      expect.objectContaining({ id: 7, result: { content: [{ type: 'text', text: 'done' }] } }),
    ]);
    registry().disable('tool', 'limited');
    // Another node ends a stream that it does not know; the same node has it hear of changes.
    const heard = (await stolen.message())?.message['method'];
    expect([undefined, 'notifications/tools/list_changed']).toContain(heard);
    expect(stolen.status).toBe(200);
    stolen.cut();
  });

  it('states: a requestState continues the call of its principal only', async () => {
    const { requestState } = (await modern(first, ADA, 'order')).result!;
    const next = { requestState, inputResponses: { size: YES } };
    expect(await modern(last, GRACE, 'order', next)).toMatchObject({
      error: { code: -32602, data: { reason: 'invalid_request_state' } },
    });
    // A token with other scopes has the same principal.
    expect(textIn(await modern(last, bearer('ada'), 'order', next))).toBe('ada ordered L');
  });

  it('questions: only the principal that is asked can answer', async () => {
    const own = await session(first, ADA);
    const stream = await EventReader.open(first, own, call('order'));
    const { id } = (await stream.message())!.message;
    const stolen = { id, result: { action: 'accept', content: { size: 'S' } } };
    expect((await post(last, as(GRACE, own), stolen)).status).toBe(404);
    await post(last, await session(last, GRACE), stolen);
    expect((await post(last, own, { id, result: YES })).status).toBe(202);
    expect(await stream.messages()).toEqual([
      expect.objectContaining({ result: { content: [{ type: 'text', text: 'ada ordered L' }] } }),
    ]);
  });

  it('subscriptions of 2025: updates reach who may read the resource', async () => {
    const streams = new Map<Headers, EventReader>();
    for (const headers of [ADA, GRACE]) {
      const own = await session(last, headers);
      const subscribe = (uri: string) =>
        post(last, own, { id: uri, method: 'resources/subscribe', params: { uri } });
      expect((await subscribe(CLOSED)).status).toBe(headers === ADA ? 200 : 403);
      expect((await subscribe(OPEN)).status).toBe(200);
      streams.set(headers, await EventReader.open(last, own));
    }
    registry().resourceUpdated(CLOSED);
    registry().resourceUpdated(OPEN);
    const heard = async (headers: Headers) => (await streams.get(headers)!.message())?.message['params'];
    expect([await heard(ADA), await heard(ADA)]).toEqual([{ uri: CLOSED }, { uri: OPEN }]);
    expect(await heard(GRACE)).toEqual({ uri: OPEN });
    for (const stream of streams.values()) stream.cut();
  });

  it('subscriptions of 2026: updates reach who may read the resource', async () => {
    const listen = (headers: Headers, ...resourceSubscriptions: string[]) =>
      EventReader.open(last, listenHeaders(headers), listenMessage({ resourceSubscriptions }));
    expect((await listen(GRACE, OPEN, CLOSED)).status).toBe(403);
    const [ada, grace] = await Promise.all([listen(ADA, OPEN, CLOSED), listen(GRACE, OPEN)]);
    const heard = async (stream: EventReader) => {
      const { method, params } = (await stream.message())!.message;
      return method === 'notifications/resources/updated' ? (params as { uri: string }).uri : method;
    };
    const agreed = 'notifications/subscriptions/acknowledged';
    expect([await heard(ada), await heard(grace)]).toEqual([agreed, agreed]);
    registry().resourceUpdated(CLOSED);
    registry().resourceUpdated(OPEN);
    expect([await heard(ada), await heard(ada)]).toEqual([CLOSED, OPEN]);
    expect(await heard(grace)).toBe(OPEN);
    for (const stream of [ada, grace]) stream.cut();
  });

  it('rate limits: each principal has its own', async () => {
    const limited = async (url: string, headers: Headers) => (await modern(url, headers, 'limited')).error;
    expect([await limited(first, ADA), await limited(last, ADA)]).toEqual([undefined, undefined]);
    expect(await limited(last, bearer('ada'))).toMatchObject({ code: expect.any(Number) });
    expect([await limited(first, GRACE), await limited(last, GRACE)]).toEqual([undefined, undefined]);
    expect(await limited(first, GRACE)).toMatchObject({ code: expect.any(Number) });
  });

  it('lists: one principal does not get the list of another', async () => {
    const listed = async (url: string, headers: Headers) => {
      const { result } = await ask({ url, era: 'modern', headers }, 'resources/list');
      return [result?.['cacheScope'], ...(result?.['resources'] as { uri: string }[]).map(({ uri }) => uri)];
    };
    for (const url of [first, last, first]) {
      expect(await listed(url, ADA)).toEqual(['private', OPEN, CLOSED]);
      expect(await listed(url, GRACE)).toEqual(['private', OPEN]);
      expect(await listed(url, {})).toEqual(['private', OPEN]);
    }
  });
}
