import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/**
 * The rooms of lib/ and what may not come into them. `in` names the only rooms a rule is for, `notIn` those it is not
 * for; `types: true` lets `import type` through, which leaves no trace at run time. `import()` is not restricted.
 */
const importRules = [
  {
    in: ['interceptors/chain', 'interceptors/protocol'],
    regex: '^(@nestjs|@modelcontextprotocol)/',
    message: 'The chain and its protocol are pure: neither Nest nor the SDK, not even their types.',
  },
  {
    in: ['decorators'],
    regex: String.raw`^(?!\./|\.\./constants(\.js$|/)|@nestjs/common$)`,
    types: true,
    message: 'Decorators only write metadata: import constants, Nest decorators and types, nothing else.',
  },
  {
    in: ['catalog'],
    regex: '(^|/)transports(/|$)',
    message: 'The catalogue knows no transport: pass it what it needs.',
  },
  {
    notIn: ['execution'],
    regex: '^@nestjs/core/',
    message: 'Only execution/ touches the internals of Nest: put the code there.',
  },
  {
    notIn: [
      'server',
      'transports',
      'execution',
      'client',
      'connection',
      'gateway',
      'schema',
      'testing',
      'interceptors/messages',
      'mrtr',
    ],
    regex: '^@modelcontextprotocol/(?!client(/|$))',
    types: true,
    message: 'This room does not know the SDK: use `import type`, or put the code where the SDK is used.',
  },
  {
    notIn: ['testing', 'client', 'connection'],
    regex: '^@modelcontextprotocol/client(/|$)',
    types: true,
    message: 'The SDK client is an optional package: use `import type` or `await import()`.',
  },
  {
    notIn: [],
    regex: '^class-(validator|transformer)(/|$)',
    types: true,
    message: 'An optional package: use `import type` or `await import()`.',
  },
];

// A later block replaces the whole rule of an earlier one, so each room gets a block with all that is for it.
const rooms = ['', ...new Set(importRules.flatMap(rule => rule.in ?? rule.notIn))];
const roomConfigs = rooms.map(room => ({
  files: [room ? `lib/${room}/**/*.ts` : 'lib/**/*.ts'],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: importRules
          .filter(rule => (rule.in ? rule.in.includes(room) : !rule.notIn.includes(room)))
          .map(({ regex, message, types = false }) => ({ regex, message, allowTypeImports: types })),
      },
    ],
  },
}));

export default defineConfig(
  globalIgnores(['dist/', 'coverage/', 'bench/', 'test/conformance/results/']),
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
    languageOptions: { parserOptions: { projectService: false, project: './tsconfig.json' } },
  },
  { files: ['lib/**/*.ts'], ignores: ['lib/**/*.spec.ts'], rules: { 'no-console': 'error' } },
  ...roomConfigs,
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
