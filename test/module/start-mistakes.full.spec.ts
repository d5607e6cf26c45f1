import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const fixtures = join(__dirname, '../fixtures');

it('an application that does not start shows its mistakes, and no source line of this package', async () => {
  const run = promisify(execFile)(process.execPath, [
    '-r',
    join(fixtures, 'ts-hook.cjs'),
    join(fixtures, 'mistaken-app.ts'),
  ]);
  const { code, stderr } = await run.then(
    () => ({ code: 0, stderr: '' }),
    (failed: { code: number; stderr: string }) => failed,
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /The application does not start: 2 mistakes\n1\. Tools\.search: "my tool" is not a tool name.*\n2\. Tools\.drop: /,
  );
  expect(stderr).toContain('\nMcpBootstrapError: The application does not start: 2 mistakes\n');
  expect(stderr).not.toMatch(/throw |[\\/]lib[\\/]/);
});
