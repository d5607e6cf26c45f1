import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** The floors of lib/, the lowest first. A room imports from its own floor and from those below, types included. */
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
  'mcp*.module.ts',
  'index.ts',
  'auth',
  'client',
  'gateway',
  'redis',
  'tasks',
  'apps',
  'skills',
  'toolsets',
  'telemetry',
  'explorer',
  'testing',
];

/** Rooms within a floor that have package rules of their own. */
const INNER_ROOMS = ['interceptors/chain', 'interceptors/protocol', 'interceptors/messages'];

/** `in` names the only rooms a rule is for, `notIn` those it is not for; `types: true` lets `import type` through. */
const PACKAGE_RULES = [
  {
    in: ['interceptors/chain', 'interceptors/protocol'],
    regex: '^(@nestjs|@modelcontextprotocol)/',
    message: 'The chain and its protocol are pure: neither Nest nor the SDK, not even their types.',
  },
  {
    in: ['server', 'transports'],
    regex: '^[./]*/interceptors/',
    types: true,
    message: 'The core does not load interceptors: use the port of `protocol/server-extension.ts`.',
  },
  {
    notIn: ['execution'],
    regex: '^@nestjs/core/',
    message: 'Only execution/ touches the internals of Nest: put the code there.',
  },
  {
    notIn: [
      'protocol',
      'elicitation',
      'execution',
      'connection',
      'interceptors/messages',
      'server',
      'module',
      'transports',
      'client',
      'gateway',
      'skills',
      'testing',
    ],
    regex: '^@modelcontextprotocol/(?!client(/|$))',
    types: true,
    message: 'This room does not know the SDK: use `import type`, or put the code where the SDK is used.',
  },
  {
    notIn: [],
    regex: '^@modelcontextprotocol/client(/|$)',
    types: true,
    message: 'The SDK client is an optional package: use `import type` or `loadSdkClient()`.',
  },
  {
    notIn: [],
    regex:
      '^(class-(validator|transformer)|jose|minisearch|parse5|redis|@opentelemetry/api|@nestjs/terminus)(/|$)',
    types: true,
    message: 'An optional package: use `import type` or `await import()`.',
  },
];

const pathOf = floor => floor.replace(/\.ts$/, '').replaceAll('.', '\\.').replace('*', '[\\w-]*');

/** What a room may not import of lib/ itself. */
function upwards(room) {
  const above = FLOORS.slice(FLOORS.indexOf(room.split('/')[0]) + 1);
  if (above.length === 0) return [];
  const message = `${room} imports from its own floor and from those below (see FLOORS): move the code down, or turn the import around.`;
  return [{ regex: `^[./]*/(${above.map(pathOf).join('|')})(/|\\.js$)`, message }];
}

/** The same for `import()`. */
const upwardsLater = room =>
  upwards(room).map(({ regex, message }) => ({
    selector: `ImportExpression[source.value=/${regex.replaceAll('/', '\\u002F')}/]`,
    message,
  }));

const packageRulesOf = room =>
  PACKAGE_RULES.filter(rule => (rule.in ? rule.in.includes(room) : !rule.notIn.includes(room))).map(
    ({ regex, message, types = false }) => ({ regex, message, allowTypeImports: types }),
  );

// A later block replaces the whole rule of an earlier one: the inner rooms come last.
const roomConfigs = [...FLOORS, ...INNER_ROOMS].map(room => ({
  files: [room.endsWith('.ts') ? `lib/${room}` : `lib/${room}/**/*.ts`],
  rules: {
    'no-restricted-imports': ['error', { patterns: [...upwards(room), ...packageRulesOf(room)] }],
    'no-restricted-syntax': ['error', ...upwardsLater(room)],
  },
}));

export default defineConfig(
  globalIgnores([
    'dist/',
    'coverage/',
    'bench/',
    'docs/.vitepress/',
    'docs/api/',
    'test/suites/conformance/results/',
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: ['**/*.{js,cjs,mjs}'],
    languageOptions: {
      globals: {
        __dirname: 'readonly',
        console: 'readonly',
        module: 'writable',
        process: 'readonly',
        require: 'readonly',
        URL: 'readonly',
      },
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/ban-ts-comment': [
        'error',
        { 'ts-ignore': true, 'ts-nocheck': true, 'ts-expect-error': 'allow-with-description' },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_' },
      ],
      // Handlers are `async` for their type, whether or not they wait for anything.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    // The project of the samples themselves takes the package from dist/, which need not be there.
    files: ['sample/**/*.ts'],
    ignores: ['sample/60-order-desk/src/**'],
    languageOptions: { parserOptions: { projectService: false, project: './tsconfig.json' } },
  },
  {
    // A project of its own, whose packages need not be there: its own build checks the types.
    files: ['sample/60-order-desk/src/**'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      parserOptions: {
        program: null,
        project: false,
        projectService: false,
        emitDecoratorMetadata: true,
        experimentalDecorators: true,
      },
    },
  },
  { files: ['lib/**/*.ts'], ignores: ['lib/**/*.spec.ts'], rules: { 'no-console': 'error' } },
  ...roomConfigs,
  {
    files: ['schematics/**/*.ts', 'cli/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^(?!\\.|node:)',
              message:
                'The schematics and the commands have no dependencies: use `import type`, or load the package of the application.',
              allowTypeImports: true,
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.spec.ts', 'test/**/*.ts'],
    rules: {
      'no-restricted-imports': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'MemberExpression[object.name=/^(describe|it|test)$/][property.name=/^(only|skip)$/]',
          message: 'Run every test.',
        },
        {
          selector: 'CallExpression[callee.name=/^(fdescribe|fit|xdescribe|xit|xtest)$/]',
          message: 'Run every test.',
        },
      ],
      // Bodies of responses and `expect.any()` are `any`.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
);
