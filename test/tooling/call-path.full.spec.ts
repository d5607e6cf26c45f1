import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const TOOL = join(__dirname, '../../tools/call-path.mjs');

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
    { era: '2026-07-28', files: 31, functions: 120, sdkFunctions: 26 },
    { era: '2025-11-25', files: 38, functions: 133, sdkFunctions: 22 },
  ])('does not grow for a client of $era', ({ era, files, functions, sdkFunctions }) => {
    const { lib, sdk } = paths[era];
    // The controller, the dispatcher and the handler at least: else the tool has seen nothing.
    expect(Object.keys(lib).length).toBeGreaterThan(3);
    expect(Object.keys(lib).length).toBeLessThanOrEqual(files);
    expect(countOf(lib)).toBeLessThanOrEqual(functions);
    expect(countOf(sdk)).toBeLessThanOrEqual(sdkFunctions);
  });
});
