import { Injectable, Scope, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { McpBootstrapError, McpServerRegistry, Prompt } from 'nestjs-mcp';
import { LogSpy } from '../../test/fixtures/log-spy.js';
import { startApp, textOf, type TestApp } from '../../test/fixtures/matrix.js';

@Injectable()
class Prompts {
  @Prompt({ argsSchema: { type: 'object', properties: { code: { type: 'string' } } } })
  review() {
    return 'Review';
  }
}

@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext) {
    return this.reflector.get<string>('role', context.getHandler()) !== 'admin';
  }
}

@Injectable({ scope: Scope.REQUEST })
class PerRequestGuard implements CanActivate {
  canActivate() {
    return true;
  }
}

describe('a handler added at run time', () => {
  const log = new LogSpy();
  let test: TestApp;
  let registry: McpServerRegistry;

  beforeEach(async () => {
    test = await startApp([Prompts], {
      mcp: { capabilities: { tools: true, resources: true } },
      configure: app => app.useLogger(log),
    });
    registry = test.app.get(McpServerRegistry);
  });
  afterEach(() => test.close());

  it('has its pipes run on the arguments', async () => {
    const shout = { transform: ({ word }: { word: string }) => ({ word: word.toUpperCase() }) };
    await registry.add(
      'tool',
      { name: 'say', inputSchema: { type: 'object' }, pipes: [shout] },
      ({ word }: { word: string }) => word,
    );
    const client = await test.client();
    expect(textOf(await client.callTool({ name: 'say', arguments: { word: 'hi' } }))).toBe('HI');
  });

  it('shows guards the metadata of its function', async () => {
    const purge = () => 'purged';
    SetMetadata('role', 'admin')(purge);
    await registry.add('tool', { name: 'purge', guards: [RolesGuard] }, purge);
    await registry.add('tool', { name: 'free', guards: [RolesGuard] }, () => 'free');
    const client = await test.client();
    expect(textOf(await client.callTool({ name: 'free' }))).toBe('free');
    await expect(client.callTool({ name: 'purge' })).rejects.toMatchObject({ code: -32000 });
  });

  it('is named in errors and in the log by its own name', async () => {
    const fail = () => {
      throw new Error('Oh');
    };
    await registry.add('tool', { name: 'late' }, fail);
    await expect(registry.add('tool', { name: 'late' }, fail)).rejects.toThrow(
      /^RuntimeHandler\.late: the tool "late" already exists in RuntimeHandler\.late; /,
    );
    await (await test.client()).callTool({ name: 'late' });
    expect(log.errors.join()).toMatch(/^RuntimeHandler\.late failed/);
  });

  it('has a name of its own in lists', async () => {
    await registry.add('resource', { uri: 'config://a' }, function settings() {
      return '';
    });
    await registry.add('resource', { uri: 'config://b' }, () => '');
    const { resources } = await (await test.client()).listResources();
    expect(resources.map(({ name }) => name)).toEqual(['settings', 'config://b']);
  });

  it('may be a completion, which is known by what it completes', async () => {
    const ref = { prompt: 'review', argument: 'code' };
    const complete = async () => {
      const client = await test.client();
      const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name: 'review' },
        argument: { name: 'code', value: '' },
      });
      return completion.values;
    };
    await registry.add('completion', ref, () => ['a']);
    expect(await complete()).toEqual(['a']);
    await registry.replace('completion', ref, () => ['b']);
    expect(await complete()).toEqual(['b']);
    registry.disable('completion', ref);
    expect(await complete()).toEqual([]);
    registry.enable('completion', ref);
    expect(await complete()).toEqual(['b']);
    registry.remove('completion', ref);
    expect(await complete()).toEqual([]);
  });

  it.each([
    { prompt: 'nope', argument: 'code' },
    { prompt: 'review', argument: 'nope' },
    { resourceTemplate: 'users://{id}', argument: 'id' },
  ])('may not complete what there is not: %j', async ref => {
    await expect(registry.add('completion', ref, () => [])).rejects.toThrow(McpBootstrapError);
  });

  it('may not have a request-scoped enhancer class, of which it could have one instance only', async () => {
    await expect(
      registry.add('tool', { name: 'late', guards: [PerRequestGuard] }, () => 'late'),
    ).rejects.toThrow(/^RuntimeHandler\.late: PerRequestGuard is request-scoped/);
  });

  it('says which enhancer class cannot be made, and what to do', async () => {
    @Injectable()
    class NeedyGuard extends RolesGuard {
      constructor(
        reflector: Reflector,
        readonly missing: Prompts,
      ) {
        super(reflector);
      }
    }
    await expect(registry.add('tool', { name: 'late', guards: [NeedyGuard] }, () => 'late')).rejects.toThrow(
      /^RuntimeHandler\.late: NeedyGuard cannot be made .*; list it in providers, or pass an instance/s,
    );
  });
});
