import { addToModule, mentions, rootModuleIn, type ModuleEntry } from '../../schematics/module-file.js';

const ENTRY: ModuleEntry = {
  metadata: 'imports',
  symbol: 'McpModule',
  from: 'nestjs-mcp',
  expression: "McpModule.forRoot({ name: 'shop' })",
};

const ADDED = ENTRY.expression;
const moduleOf = (metadata: string) =>
  `import { Module } from '@nestjs/common';\n\n@Module(${metadata})\nexport class AppModule {}\n`;
const IMPORTED = "import { Module } from '@nestjs/common';\nimport { McpModule } from 'nestjs-mcp';\n";

describe('an entry of a module', () => {
  it.each([
    ['no properties', '{}', `{imports: [${ADDED}]}`],
    ['no array', '{ providers: [A] }', `{ providers: [A], imports: [${ADDED}] }`],
    ['no array, in lines', '{\n  providers: [A],\n}', `{\n  providers: [A],\n  imports: [${ADDED}],\n}`],
    ['no array, and no comma', '{\n  providers: [A]\n}', `{\n  providers: [A],\n  imports: [${ADDED}]\n}`],
    ['an empty array', '{ imports: [] }', `{ imports: [${ADDED}] }`],
    ['an array', '{ imports: [A] }', `{ imports: [A, ${ADDED}] }`],
    ['a trailing comma', '{ imports: [A,] }', `{ imports: [A, ${ADDED},] }`],
    ['a name in quotes', '{ "imports": [A] }', `{ "imports": [A, ${ADDED}] }`],
    [
      'lines',
      '{\n  imports: [\n    A,\n    B,\n  ],\n}',
      `{\n  imports: [\n    A,\n    B,\n    ${ADDED},\n  ],\n}`,
    ],
    [
      'lines, and no comma',
      '{\n  imports: [\n    A\n  ]\n}',
      `{\n  imports: [\n    A,\n    ${ADDED}\n  ]\n}`,
    ],
    [
      'forRoot of another module',
      "{ imports: [ConfigModule.forRoot({ imports: [B], load: ['McpModule'] })] }",
      `{ imports: [ConfigModule.forRoot({ imports: [B], load: ['McpModule'] }), ${ADDED}] }`,
    ],
    [
      'comments',
      '{\n  imports: [\n    // McpModule comes later\n    A, // the last\n  ],\n}',
      `{\n  imports: [\n    // McpModule comes later\n    A, // the last\n    ${ADDED},\n  ],\n}`,
    ],
    [
      'a comment, and no comma',
      '{\n  imports: [\n    A // the last\n  ],\n}',
      `{\n  imports: [\n    A, // the last\n    ${ADDED}\n  ],\n}`,
    ],
    [
      'a comment in an empty array',
      '{\n  imports: [\n    // none\n  ],\n}',
      `{\n  imports: [\n    // none\n  ${ADDED}],\n}`,
    ],
    ['an array of another name', '{ imports: MODULES }', `{ imports: [...MODULES, ${ADDED}] }`],
    ['a property without a value', '{ imports }', `{ imports: [...imports, ${ADDED}] }`],
  ])('joins %s', (_, before, after) => {
    const text = addToModule(moduleOf(before), ENTRY);
    expect(text).toBe(moduleOf(after).replace(/^.*\n/, IMPORTED));
    expect(addToModule(text!, ENTRY)).toBe(text);
  });

  it.each([
    ['McpModule.forRoot()', 'itself'],
    ['forwardRef(() => McpModule)', 'a reference to it'],
    ['...(process.env.MCP ? [McpModule.forRootAsync({ useFactory })] : [])', 'a condition'],
  ])('is not added again beside %s, %s', expression => {
    const text = moduleOf(`{ imports: [${expression}] }`).replace(/^.*\n/, IMPORTED);
    expect(addToModule(text, ENTRY)).toBe(text);
  });

  it.each([
    ['export class AppModule {}'],
    ["import { Module } from '@nestjs/common';\n@Module()\nexport class AppModule {}"],
    ["import { Module } from '@nestjs/common';\n@Module(METADATA)\nexport class AppModule {}"],
  ])('does not join %j', text => {
    expect(addToModule(text, ENTRY)).toBeUndefined();
  });
});

describe('the import of an entry', () => {
  const body = '\n@Module({})\nexport class AppModule {}\n';
  const importsOf = (imports: string) => addToModule(imports + body, ENTRY)!.split('\n@Module')[0];

  it.each([
    [
      'the names of its package',
      "import { Tool } from 'nestjs-mcp';\n",
      "import { Tool, McpModule } from 'nestjs-mcp';\n",
    ],
    [
      'names in lines',
      "import {\n  Args,\n  Tool,\n} from 'nestjs-mcp';\n",
      "import {\n  Args,\n  Tool,\n  McpModule,\n} from 'nestjs-mcp';\n",
    ],
    [
      'types beside it',
      "import type { McpContext } from 'nestjs-mcp';\n",
      "import type { McpContext } from 'nestjs-mcp';\nimport { McpModule } from 'nestjs-mcp';\n",
    ],
    [
      'double quotes',
      'import { A } from "./a";\n',
      'import { A } from "./a";\nimport { McpModule } from "nestjs-mcp";\n',
    ],
    ['no semicolons', "import './a'\n", "import './a'\nimport { McpModule } from 'nestjs-mcp'\n"],
    [
      'a comment',
      "import './a'; // first\n",
      "import './a'; // first\nimport { McpModule } from 'nestjs-mcp';\n",
    ],
    [
      'packages before files',
      "import { A } from 'a';\nimport './b';\n",
      "import { A } from 'a';\nimport { McpModule } from 'nestjs-mcp';\nimport './b';\n",
    ],
    ['itself', "import { McpModule } from 'nestjs-mcp';\n", "import { McpModule } from 'nestjs-mcp';\n"],
  ])('joins %s', (_, before, after) => {
    expect(importsOf(before)).toBe(after);
  });

  it('keeps the line breaks of Windows', () => {
    const text = moduleOf('{\n  imports: [\n    A,\n  ],\n}').replaceAll('\n', '\r\n');
    const added = addToModule(text, ENTRY)!;
    expect(added).toContain(`    A,\r\n    ${ADDED},\r\n`);
    expect(added.replaceAll('\r\n', '')).not.toContain('\n');
  });
});

describe('the root module of main.ts', () => {
  it.each([
    ["import { AppModule } from './app.module';\nvoid NestFactory.create(AppModule);", './app.module'],
    [
      "import { Shop } from './shop.js';\nconst start = async () => { await NestFactory.create<X>(Shop, {}); };",
      './shop.js',
    ],
    ["import { Shop } from './shop';\nNestFactory.createApplicationContext(Shop);", './shop'],
    ['NestFactory.create(AppModule);', undefined],
    ["import { Shop } from './shop';", undefined],
  ])('of %j is %j', (text, specifier) => {
    expect(rootModuleIn(text)).toBe(specifier);
  });
});

it('a symbol in a comment or a text is not mentioned', () => {
  expect(mentions("// McpModule\nconst a = 'McpModule';", 'McpModule')).toBe(false);
  expect(mentions('const a = [B.C(McpModule)];', 'McpModule')).toBe(true);
});
