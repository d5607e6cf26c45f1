const swc = parser => [
  '@swc/jest',
  {
    jsc: {
      target: 'es2022',
      parser,
      transform: { legacyDecorator: true, decoratorMetadata: true },
      keepClassNames: true,
    },
    module: { type: 'commonjs' },
  },
];

// The name of a file says which set it is in: `*.spec.ts` fast, `*.full.spec.ts`, `*.soak.spec.ts`. The scripts of
// package.json name the set; Jest by itself takes every file, so that any can be run by its path.
const set = process.env.TEST_SET ?? 'all';
const leftOut = { fast: ['\\.(full|soak)\\.spec\\.ts$'], full: ['\\.soak\\.spec\\.ts$'] }[set] ?? [];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  // For what hangs: how fast a machine is, is no test's matter.
  testTimeout: 30_000,
  roots: ['<rootDir>/lib', '<rootDir>/test', '<rootDir>/docs/snippets'],
  testMatch: [set.startsWith('soak') ? '**/*.soak.spec.ts' : '**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/suites/third-party/', ...leftOut],
  collectCoverageFrom: ['lib/**/*.ts', '!lib/**/*.{spec,fixture,fixtures}.ts', '!lib/explorer/page/**'],
  // Jest would leave one core idle.
  maxWorkers: '100%',
  // Node 20 keeps the modules of past test files, and collects garbage ever longer.
  workerIdleMemoryLimit: '800MB',
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json'],
  moduleNameMapper: {
    '^nestjs-mcp$': '<rootDir>/lib/index.ts',
    '^nestjs-mcp/(.*)$': '<rootDir>/lib/$1/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': swc({ syntax: 'typescript', decorators: true }),
    '^.+\\.m?js$': swc({ syntax: 'ecmascript' }),
  },
  // ESM only, which Jest cannot require untransformed on Node before 24.9.
  transformIgnorePatterns: ['/node_modules/(?!(@nestjs|arktype|@ark|arkregex|entities|jose|parse5)/)'],
};
