import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const TOOL = join(__dirname, '../../tools/call-path.mjs');
const LOADED = join(__dirname, '../../tools/loaded.mjs');

/** What the main entry exports, and the checks of options. */
const ALWAYS = [
  'lib/interceptors/chain/frozen.ts',
  'lib/interceptors/chain/synthetic-response.ts',
  'lib/interceptors/remote/check-server.ts',
  'lib/transports/stdio/reserve-stdout.ts',
  'lib/transports/stdio/stderr.logger.ts',
];

const MAX_LINES = 16_000;

type Functions = Record<string, string[]>;

/** The functions that one `tools/call` passes, by file. */
interface CallPath {
  readonly lib: Functions;
  readonly sdk: Functions;
}

const countOf = (functions: Functions) => Object.values(functions).flat().length;

describe('the way of one tools/call', () => {
  let paths: Record<string, CallPath>;
  // Builds the package first, unless it is built.
  beforeAll(() => {
    paths = JSON.parse(execFileSync(process.execPath, [TOOL, '--json'], { encoding: 'utf8' }));
  }, 300_000);

  it.each([
    { era: '2026-07-28', files: 33, functions: 120, sdkFunctions: 17 },
    { era: '2025-11-25', files: 37, functions: 130, sdkFunctions: 11 },
  ])('does not grow for a client of $era', ({ era, files, functions, sdkFunctions }) => {
    const { lib, sdk } = paths[era];
    // The controller, the dispatcher and the handler at least: else the tool has seen nothing.
    expect(Object.keys(lib).length).toBeGreaterThan(3);
    expect(Object.keys(lib).length).toBeLessThanOrEqual(files);
    expect(countOf(lib)).toBeLessThanOrEqual(functions);
    expect(countOf(sdk)).toBeLessThanOrEqual(sdkFunctions);
  });
});

// In the same file, because two files could build the package at the same time.
describe('a server with one tool', () => {
  let lines: Record<string, number>;
  beforeAll(() => {
    lines = JSON.parse(execFileSync(process.execPath, [LOADED, '--json'], { encoding: 'utf8' }));
  }, 300_000);

  it.each([
    'apps',
    'skills',
    'tasks',
    'toolsets',
    'interceptors/boundary',
    'interceptors/chain',
    'interceptors/library',
    'interceptors/local',
    'interceptors/policy',
    'interceptors/remote',
    'elicitation/replay',
    'transports/stdio',
  ])('does not load %s', room => {
    const files = Object.keys(lines).filter(file => file.startsWith(`lib/${room}/`));
    expect(files.filter(file => !ALWAYS.includes(file))).toEqual([]);
  });

  it.each([
    'interceptors/engine',
    'elicitation/round-engine',
    'elicitation/state/request-state',
    'protocol/uri-template',
    'schema/class-compiler',
    'schema/text-arguments',
    'transports/sessions/shared-sessions',
  ])('does not load %s.ts', file => {
    expect(lines).not.toHaveProperty([`lib/${file}.ts`]);
  });

  it(`loads at most ${MAX_LINES} lines`, () => {
    expect(lines).toHaveProperty(['lib/index.ts']);
    const sum = Object.values(lines).reduce((all, count) => all + count, 0);
    expect(sum).toBeLessThanOrEqual(MAX_LINES);
  });
});
