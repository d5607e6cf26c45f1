import type { UnitTestTree } from '@angular-devkit/schematics/testing';
import {
  APPLICATION,
  changes,
  ESM,
  MANIFEST,
  newRunner,
  ROOT_MODULE,
  treeOf,
  type Files,
} from './application.js';

/** Runs `nest add`, with what it logs and the tasks that it leaves. */
async function add(options: object = {}, tree: UnitTestTree = treeOf(APPLICATION)) {
  const runner = newRunner();
  const logged: string[] = [];
  runner.logger.subscribe(({ level, message }) => logged.push(`${level}: ${message}`));
  const after = await runner.runSchematic('nest-add', { sourceRoot: 'src', ...options }, tree);
  return { tree: after, logged, tasks: runner.tasks, module: after.readText('/src/app.module.ts') };
}

const contentOf = (tree: UnitTestTree): Files =>
  Object.fromEntries(tree.files.map(path => [path, tree.readText(path)]));

describe('nest add nestjs-mcp', () => {
  it('adds the module and one tool, and says what to do next', async () => {
    const { tree, logged, module } = await add();
    expect(changes(tree)).toEqual([
      '/package.json',
      '/src/app.module.ts',
      '/src/hello/hello.tool.ts',
      '/src/hello/hello.tool.spec.ts',
    ]);
    expect(module).toBe(`import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { AppController } from './app.controller';
import { AppService } from './app.service';
import { HelloTool } from './hello/hello.tool';

@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '0.0.1' })],
  controllers: [AppController],
  providers: [AppService, HelloTool],
})
export class AppModule {}
`);
    expect(logged).toEqual([
      'info: Start the application with npm start, and call it:',
      'info:   npx @modelcontextprotocol/inspector@latest --cli http://localhost:3000/mcp --method tools/list',
      'info: Generate more with: nest g -c nestjs-mcp tool <name>',
    ]);
  });

  it('installs the packages once', async () => {
    const { tree, tasks } = await add({ auth: true, redis: true, telemetry: true, explorer: true });
    expect(tree.readJson('/package.json')).toEqual({
      ...MANIFEST,
      dependencies: {
        ...MANIFEST.dependencies,
        '@opentelemetry/api': '^1.9.0',
        'class-transformer': '^0.5.1',
        'class-validator': '^0.15.0',
        jose: '^6.0.0',
        redis: '^6.0.0',
      },
      devDependencies: { ...MANIFEST.devDependencies, '@modelcontextprotocol/client': '^2.4.0' },
    });
    expect(tasks).toMatchObject([{ name: 'node-package', options: { command: 'install' } }]);
  });

  it.each([{}, { auth: true, redis: true, telemetry: true, explorer: true, stdio: true }])(
    'changes nothing the second time, with %j',
    async options => {
      const { tree } = await add(options);
      const before = contentOf(tree);
      const second = await add({ ...options, stdio: false }, tree);
      expect(contentOf(second.tree)).toEqual(before);
      expect(second.tasks).toEqual([]);
    },
  );

  it('adds what is missing the second time', async () => {
    const { tree } = await add();
    tree.delete('/src/hello/hello.tool.ts');
    const { module, tree: after } = await add({ telemetry: true }, tree);
    expect(module).toMatch(
      /imports: \[\s*McpModule\.forRoot\(.*\),\s*McpTelemetryModule\.forRoot\(\),?\s*\]/,
    );
    expect(after.files).not.toContain('/src/hello/hello.tool.ts');
  });

  it('leaves a server alone that another module has', async () => {
    const mcp =
      "import { McpModule } from 'nestjs-mcp';\n@Module({ imports: [McpModule.forRootAsync({})] })\nexport class M {}";
    const { module, tree } = await add({}, treeOf({ ...APPLICATION, '/src/mcp/mcp.module.ts': mcp }));
    expect(module).toBe(ROOT_MODULE);
    expect(changes(tree)).toEqual(['/package.json', '/src/mcp/mcp.module.ts']);
  });

  it('writes imports with an extension in an ES module', async () => {
    const { module } = await add({}, treeOf(ESM));
    expect(module).toContain("import { McpModule } from 'nestjs-mcp';");
    expect(module).toContain("import { HelloTool } from './hello/hello.tool.js';");
  });

  it('takes the name of the application without its scope', async () => {
    const manifest = JSON.stringify({ ...MANIFEST, name: '@acme/orders', version: undefined });
    const { module } = await add({ redis: true }, treeOf({ ...APPLICATION, '/package.json': manifest }));
    expect(module).toContain("name: 'orders', version: '1.0.0'");
    expect(module).toContain("prefix: 'orders:'");
  });

  it.each([
    ['auth', /import \{ McpAuthModule, jwtVerifier \} from 'nestjs-mcp\/auth';/, 'Set MCP_URL'],
    ['redis', /import \{ McpRedisModule \} from 'nestjs-mcp\/redis';/, 'Set REDIS_URL'],
    [
      'telemetry',
      /import \{ McpTelemetryModule \} from 'nestjs-mcp\/telemetry';/,
      'Register an OpenTelemetry SDK',
    ],
    [
      'explorer',
      /import \{ McpExplorerModule \} from 'nestjs-mcp\/explorer';/,
      'The explorer is at http://localhost:3000/mcp-explorer',
    ],
  ])('adds the module of --%s, and says what to do', async (option, line, next) => {
    const { module, logged } = await add({ [option]: true });
    expect(module).toMatch(line);
    expect(module).toMatch(/imports: \[\s*McpModule\.forRoot\(/);
    expect(logged[0]).toContain(`info: ${next}`);
  });

  it('begins with a call that needs no token, if callers log in', async () => {
    const { logged } = await add({ auth: true });
    expect(logged.slice(1, -1)).toEqual([
      'info: Run npm test: the spec of HelloTool calls the tool without a token',
      'info: Start the application with npm start, and call it with a token of the issuer:',
      'info:   npx @modelcontextprotocol/inspector@latest --cli http://localhost:3000/mcp --header "Authorization: Bearer <token>" --method tools/list',
    ]);
  });

  describe('with --stdio', () => {
    const warning = 'warn: Set the option stdio of McpModule yourself: the module is there';

    it('sets the option, and says how to leave out HTTP', async () => {
      const { module, logged } = await add({ stdio: true });
      expect(module).toContain('stdio: true');
      expect(logged).toContainEqual(expect.stringContaining('set http: false'));
      expect(logged).not.toContain(warning);
    });

    it('says what to set if the module is there', async () => {
      const { tree } = await add();
      const { logged } = await add({ stdio: true }, tree);
      expect(logged).toContain(warning);
    });

    it('is silent about an option that is set', async () => {
      const { tree } = await add({ stdio: true });
      const { logged } = await add({ stdio: true }, tree);
      expect(logged).not.toContain(warning);
    });
  });
});

describe('the root module', () => {
  const { '/src/app.module.ts': _, ...withoutModule } = APPLICATION;

  it.each([
    [
      "import { Shop } from './shop/shop.module.js';\nvoid NestFactory.create(Shop);",
      '/src/shop/shop.module.ts',
    ],
    ["import { Shop } from './shop';\nvoid NestFactory.create(Shop);", '/src/shop.ts'],
  ])('is the one that main.ts starts: %j', async (main, path) => {
    const files = { ...withoutModule, '/src/main.ts': main, [path]: ROOT_MODULE };
    const tree = await newRunner().runSchematic('nest-add', { sourceRoot: 'src' }, treeOf(files));
    expect(tree.readText(path)).toContain('McpModule.forRoot(');
    expect(tree.readText(path)).toContain('HelloTool]');
    const before = contentOf(tree);
    const again = await newRunner().runSchematic('nest-add', { sourceRoot: 'src' }, tree);
    expect(contentOf(again)).toEqual(before);
  });

  it('is the one that --module names', async () => {
    const files = { ...APPLICATION, '/src/shop/shop.module.ts': ROOT_MODULE };
    const options = { sourceRoot: 'src', module: 'shop/shop' };
    const tree = await newRunner().runSchematic('nest-add', options, treeOf(files));
    expect(tree.readText('/src/shop/shop.module.ts')).toContain("from '../hello/hello.tool';");
    expect(tree.readText('/src/app.module.ts')).toBe(ROOT_MODULE);
  });

  it('has to exist', async () => {
    await expect(newRunner().runSchematic('nest-add', {}, treeOf(withoutModule))).rejects.toThrow(
      'There is no root module at /src/app.module.ts: name its file with --module',
    );
  });
});

describe('the format', () => {
  it('of a module that was not formatted stays', async () => {
    const untidy = ROOT_MODULE.replace('imports: []', 'imports:    [ ]');
    const { module } = await add({}, treeOf({ ...APPLICATION, '/src/app.module.ts': untidy }));
    expect(module).toContain("imports:    [ McpModule.forRoot({ name: 'shop', version: '0.0.1' })]");
  });

  it('of a formatted module is that of Prettier', async () => {
    const { module } = await add({ auth: true });
    expect(module).toContain(`  imports: [
    McpModule.forRoot({ name: 'shop', version: '0.0.1' }),
    McpAuthModule.forRoot({
      resource: process.env.MCP_URL ??`);
  });
});
