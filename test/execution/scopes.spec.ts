import {
  Inject,
  Injectable,
  Scope,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { ContextIdFactory, REQUEST, type ContextId, type HostComponentInfo } from '@nestjs/core';
import { Args, Ctx, McpContext, Prompt, Resource, ResourceTemplate, Tool, UriParams } from 'nestjs-mcp';
import { deferred } from '../fixtures/deferred.js';
import { anyCell, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

interface HttpRequest {
  headers: Record<string, string>;
  tenant?: string;
}

@Injectable({ scope: Scope.REQUEST })
class Session {
  user = 'nobody';

  constructor(@Inject(REQUEST) readonly request: HttpRequest) {}
}

/** Puts the user into the request-scoped session, for the handler of the same call to find. */
@Injectable()
class UserGuard implements CanActivate {
  constructor(private readonly session: Session) {}

  canActivate(_context: ExecutionContext) {
    this.session.user = this.session.request.headers['x-user'];
    return true;
  }
}

let made = 0;
const meeting = { waiting: 0, complete: deferred() };

@Injectable()
@UseGuards(UserGuard)
class Handlers {
  readonly number = ++made;

  constructor(private readonly session: Session) {}

  @Tool()
  whoami() {
    return `${this.session.user} ${this.number}`;
  }

  @Tool()
  async meet() {
    const { user } = this.session;
    meeting.waiting += 1;
    if (meeting.waiting === 2) meeting.complete.resolve();
    await meeting.complete.promise;
    return `${user} ${this.session.user}`;
  }

  @Prompt()
  greeting() {
    return this.session.user;
  }

  @Resource({ uri: 'me://' })
  me() {
    return this.session.user;
  }

  @ResourceTemplate({ uriTemplate: 'me://{field}' })
  field(@UriParams('field') field: string, @Ctx() _ctx: McpContext, @Args() _args: unknown) {
    return `${field} of ${this.session.user}`;
  }
}

describe.each(anyCell())('a provider with a request-scoped dependency, over $name,', cell => {
  let test: TestApp;
  const clientOf = (user: string) => test.client({ era: cell.era, headers: { 'x-user': user } });

  beforeAll(async () => {
    test = await startApp([Handlers], {
      platform: cell.platform,
      mcp: { legacy: cell.legacy },
      module: { providers: [Session] },
    });
  });
  afterAll(() => test.close());

  it('is made for each call, with the same instances as its guards', async () => {
    const client = await clientOf('ada');
    const answers = [];
    for (let i = 0; i < 2; i++) answers.push(textOf(await client.callTool({ name: 'whoami' })));
    expect(answers[0]).toMatch(/^ada \d+$/);
    expect(answers[1]).toMatch(/^ada \d+$/);
    expect(answers[0]).not.toBe(answers[1]);
  });

  it('keeps calls that run at the same time apart', async () => {
    Object.assign(meeting, { waiting: 0, complete: deferred() });
    const clients = [await clientOf('ada'), await clientOf('bob')];
    const answers = await Promise.all(clients.map(client => client.callTool({ name: 'meet' })));
    expect(answers.map(textOf)).toEqual(['ada ada', 'bob bob']);
  });

  it('serves prompts, resources and templates as well', async () => {
    const client = await clientOf('ada');
    const prompt = await client.getPrompt({ name: 'greeting' });
    expect(prompt.messages[0].content).toEqual({ type: 'text', text: 'ada' });
    expect((await client.readResource({ uri: 'me://' })).contents[0]).toMatchObject({ text: 'ada' });
    expect((await client.readResource({ uri: 'me://name' })).contents[0]).toMatchObject({
      text: 'name of ada',
    });
  });
});

@Injectable({ scope: Scope.REQUEST, durable: true })
class TenantTools {
  private calls = 0;

  constructor(@Inject(REQUEST) private readonly payload: { tenant: string }) {}

  @Tool()
  count() {
    return `${this.payload.tenant} ${++this.calls}`;
  }
}

@Injectable({ scope: Scope.REQUEST })
class CallTools {
  constructor(@Inject(REQUEST) private readonly request: HttpRequest) {}

  @Tool()
  tenant() {
    return `${this.request.tenant} of ${this.request.headers['x-tenant']}`;
  }
}

/** One sub-tree of instances for each tenant. */
class TenantStrategy {
  private readonly trees = new Map<string, ContextId>();

  attach(contextId: ContextId, request: HttpRequest) {
    const tenant = request.headers['x-tenant'];
    const tree = this.trees.get(tenant) ?? ContextIdFactory.create();
    this.trees.set(tenant, tree);
    return {
      resolve: (info: HostComponentInfo) => (info.isTreeDurable ? tree : contextId),
      payload: { tenant },
    };
  }
}

describe('with a strategy that groups requests by tenant', () => {
  let test: TestApp;

  beforeAll(async () => {
    ContextIdFactory.apply(new TenantStrategy());
    test = await startApp([TenantTools, CallTools]);
  });
  afterAll(async () => {
    ContextIdFactory.apply(undefined as never);
    await test.close();
  });

  it('a durable provider is made once for each tenant, and is given the payload', async () => {
    const answers = [];
    for (const tenant of ['acme', 'globex', 'acme', 'acme']) {
      const client = await test.client({ headers: { 'x-tenant': tenant } });
      answers.push(textOf(await client.callTool({ name: 'count' })));
    }
    expect(answers).toEqual(['acme 1', 'globex 1', 'acme 2', 'acme 3']);
  });

  it('a request-scoped provider is given the request, with the payload in it', async () => {
    const client = await test.client({ headers: { 'x-tenant': 'acme' } });
    expect(textOf(await client.callTool({ name: 'tenant' }))).toBe('acme of acme');
  });
});
