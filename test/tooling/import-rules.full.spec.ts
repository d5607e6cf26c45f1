import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

type Snippet = [path: string, code: string];

/** The floors of the design, the lowest first. */
const FLOORS = [
  'util',
  'options',
  'schema',
  'exceptions',
  'protocol',
  'headers',
  'decorators',
  'stores',
  'elicitation',
  'execution',
  'catalog',
  'connection',
  'interceptors',
  'server',
  'module',
  'transports',
  'mcp.module.ts',
  'index.ts',
  'auth',
  'client',
  'gateway',
  'redis',
  'testing',
];

const FOLDERS = FLOORS.filter(floor => !floor.endsWith('.ts'));

const ROOMS = [
  ...FOLDERS,
  'interceptors/chain',
  'interceptors/messages',
  'interceptors/protocol',
  'transports/http',
];

const sideEffect = (specifier: string) => `import '${specifier}';`;
const value = (specifier: string) => `import { a } from '${specifier}';\nvoid a;`;
const type = (specifier: string) => `import type { A } from '${specifier}';\nexport const a = (b: A) => b;`;
const mixed = (specifier: string) => `import { a, type A } from '${specifier}';\nexport const b: A = a;`;
const reExport = (specifier: string) => `export { a } from '${specifier}';`;
const typeReExport = (specifier: string) => `export type { A } from '${specifier}';`;
const dynamic = (specifier: string) => `export const load = () => import('${specifier}');`;

/** The snippets of `forms` in every room of which `rooms` is true. */
const inRooms = (
  rooms: (room: string) => boolean,
  forms: ((specifier: string) => string)[],
  ...specifiers: string[]
): Snippet[] =>
  ROOMS.filter(rooms).flatMap(room =>
    specifiers.flatMap(specifier =>
      forms.map((form): Snippet => [`lib/${room}/snippet.ts`, form(specifier)]),
    ),
  );

const values = [sideEffect, value, mixed, reExport];
const types = [type, typeReExport];
const all = [...values, ...types];
const one = (room: string) => (candidate: string) => candidate === room;
const isPure = (room: string) => ['interceptors/chain', 'interceptors/protocol'].includes(room);
const hasSdk = (room: string) =>
  /^(protocol|elicitation|execution|connection|server|module|transports|client|gateway|testing|interceptors\/messages)/.test(
    room,
  );
const isCore = (room: string) => ['server', 'transports'].includes(room);
const isPlain = (room: string) => !isPure(room);

/** A file of a floor, and the specifier by which another file of lib/ imports it. */
const fileOn = (floor: string) => (floor.endsWith('.ts') ? `lib/${floor}` : `lib/${floor}/snippet.ts`);
const specifierOf = (from: string, to: string) => {
  const up = from.endsWith('.ts') ? './' : '../';
  return up + (to.endsWith('.ts') ? to.replace('.ts', '.js') : `${to}/a.js`);
};

/** An import from every floor of every floor that `isChosen` chooses. */
const betweenFloors = (
  form: (specifier: string) => string,
  isChosen: (from: number, to: number) => boolean,
) =>
  FLOORS.flatMap((from, i) =>
    FLOORS.filter((_, j) => i !== j && isChosen(i, j)).map((to): Snippet => [
      fileOn(from),
      form(specifierOf(from, to)),
    ]),
  );

const RULES: Record<string, { bad: Snippet[]; good: Snippet[] }> = {
  'the chain and its protocol import neither Nest nor the SDK': {
    bad: inRooms(
      isPure,
      all,
      '@nestjs/common',
      '@nestjs/core',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/core',
    ),
    good: [
      ...inRooms(isPure, all, './order.js', '../protocol/types.js', 'node:crypto'),
      ...inRooms(isPlain, all, '@nestjs/common', '@nestjs/core'),
    ],
  },
  'a room imports from its own floor and from those below': {
    bad: [
      ...betweenFloors(type, (from, to) => to > from),
      ...all.map((form): Snippet => ['lib/catalog/snippet.ts', form('../server/pipeline.js')]),
      ['lib/interceptors/library/snippet.ts', type('../../server/pipeline.js')],
      ['lib/interceptors/chain/snippet.ts', type('../../server/pipeline.js')],
      ['lib/module/mcp-core.module.ts', type('../client/index.js')],
      ['lib/client/decorators/snippet.ts', type('../../gateway/index.js')],
    ],
    good: [
      ...betweenFloors(
        value,
        (from, to) => to < from && !(isCore(FLOORS[from]) && FLOORS[to] === 'interceptors'),
      ),
      ...FOLDERS.flatMap(room => all.map((form): Snippet => [fileOn(room), form('./a.js')])),
      ['lib/execution/snippet.ts', value('./mcp-context.js')],
      ['lib/interceptors/library/snippet.ts', value('../decorators/a.js')],
      ['lib/interceptors/library/snippet.ts', value('../../protocol/errors.js')],
      ['lib/mcp.module.ts', value('./module/mcp-core.module.js')],
      ['lib/schema/snippet.spec.ts', value('../server/pipeline.js')],
    ],
  },
  'the core does not load an extension': {
    bad: inRooms(isCore, values, '../interceptors/extension.js', '../auth/index.js', '../telemetry/index.js'),
    good: inRooms(isCore, types, '../interceptors/interceptor-options.js'),
  },
  'only execution imports the internals of Nest': {
    bad: [
      ...inRooms(room => room !== 'execution', all, '@nestjs/core/injector/injector.js'),
      ['lib/mcp.module.ts', value('@nestjs/core/injector/injector.js')],
    ],
    good: [
      ...inRooms(one('execution'), all, '@nestjs/core/injector/injector.js'),
      ['lib/mcp.module.ts', value('@nestjs/core')],
    ],
  },
  'only the rooms of the SDK import it as values': {
    bad: [
      ...inRooms(
        room => !hasSdk(room),
        values,
        '@modelcontextprotocol/server',
        '@modelcontextprotocol/node',
        '@modelcontextprotocol/server/stdio',
      ),
      ['lib/mcp.module.ts', value('@modelcontextprotocol/server')],
    ],
    good: [
      ...inRooms(hasSdk, all, '@modelcontextprotocol/server', '@modelcontextprotocol/server/stdio'),
      ...inRooms(isPlain, types, '@modelcontextprotocol/server'),
      ['lib/mcp.module.ts', type('@modelcontextprotocol/server')],
    ],
  },
  'schematics and commands import packages as types only': {
    bad: [
      ['cli/a.ts', value('typescript')],
      ['schematics/a.ts', value('typescript')],
      ['schematics/templates/a.ts', value('@angular-devkit/schematics')],
    ],
    good: [
      ['schematics/a.ts', type('@angular-devkit/schematics')],
      ['schematics/a.ts', value('node:path')],
      ['schematics/templates/a.ts', value('../template.js')],
      ['cli/a.ts', type('nestjs-mcp/testing')],
    ],
  },
  'optional packages are imported as types or when they are needed': {
    bad: [
      ...inRooms(
        () => true,
        values,
        'class-validator',
        'class-transformer',
        'class-transformer/storage.js',
        'jose',
        'redis',
      ),
      ...inRooms(() => true, values, '@modelcontextprotocol/client'),
      ['lib/index.ts', reExport('@modelcontextprotocol/client')],
    ],
    good: [
      ...inRooms(() => true, [...types, dynamic], 'class-validator', 'class-transformer', 'jose', 'redis'),
      ...inRooms(isPlain, [...types, dynamic], '@modelcontextprotocol/client'),
      ['lib/schema/snippet.spec.ts', value('class-validator')],
    ],
  },
};

const TEST_AND_SOURCE_RULES: Record<string, { bad: Snippet[]; good: Snippet[] }> = {
  '@typescript-eslint/no-explicit-any': {
    bad: [
      ['lib/a.ts', 'export const a = (b: any) => void b;'],
      ['test/a.ts', 'export let a: any;'],
    ],
    good: [['lib/a.ts', 'export const a = (b: unknown) => void b;']],
  },
  '@typescript-eslint/ban-ts-comment': {
    bad: [
      ['lib/a.ts', '// @ts-ignore because\nexport const a = 1;'],
      ['lib/a.ts', '// @ts-nocheck\nexport const a = 1;'],
      ['test/a.spec.ts', '// @ts-expect-error\nexport const a: string = 1;'],
    ],
    good: [['test/a.spec.ts', '// @ts-expect-error a number is refused\nexport const a: string = 1;']],
  },
  'no-console': {
    bad: [['lib/server/a.ts', 'console.log(1);']],
    good: [['sample/a/main.ts', 'console.log(1);']],
  },
  'no-restricted-syntax': {
    bad: ['describe.only', 'it.skip', 'test.only', 'it.only.each([1])', 'fit', 'xdescribe'].flatMap(
      (call): Snippet[] => [
        ['test/suites/a.spec.ts', `${call}('a', () => {});`],
        ['lib/a.spec.ts', `${call}('a', () => {});`],
      ],
    ),
    good: [['test/suites/a.spec.ts', "it.each([1])('a', () => {});\ndescribe('b', () => {});"]],
  },
};

const cases = [
  ...Object.entries(RULES).map(([title, snippets]) => ({
    title,
    rule: 'no-restricted-imports',
    ...snippets,
  })),
  ...Object.entries(TEST_AND_SOURCE_RULES).map(([rule, snippets]) => ({ title: rule, rule, ...snippets })),
];

describe('lint', () => {
  const broken = new Map<Snippet, string[]>();

  beforeAll(() => {
    const snippets = cases.flatMap(({ bad, good }) => [...bad, ...good]);
    const output = execFileSync(process.execPath, [join(__dirname, 'lint-snippets.mjs')], {
      input: JSON.stringify(snippets),
      encoding: 'utf8',
    });
    for (const [i, rules] of (JSON.parse(output) as string[][]).entries()) broken.set(snippets[i], rules);
  }, 120_000);

  it.each(cases)('fails what breaks "$title"', ({ rule, bad }) => {
    expect(bad.length).toBeGreaterThan(0);
    expect(bad.filter(snippet => !broken.get(snippet)?.includes(rule))).toEqual([]);
  });

  it.each(cases)('passes what keeps "$title"', ({ good }) => {
    expect(good.length).toBeGreaterThan(0);
    expect(good.map(snippet => [snippet, broken.get(snippet)]).filter(([, rules]) => rules?.length)).toEqual(
      [],
    );
  });
});
