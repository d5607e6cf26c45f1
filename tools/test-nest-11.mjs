// Runs the fast set of the tests on Nest 11: in a copy of the checkout, because one Jest run takes one major of Nest.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const copy = mkdtempSync(join(tmpdir(), 'nest-11-'));
const packages = [
  'common',
  'core',
  'platform-express',
  'platform-fastify',
  'testing',
  'microservices',
  'swagger',
  'terminus',
];

try {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  for (const file of files.split('\n').filter(name => name !== '')) {
    cpSync(file, join(copy, file), { recursive: true });
  }
  execFileSync('cp', ['-a', 'node_modules', join(copy, 'node_modules')]);
  const names = packages.map(name => `@nestjs/${name}@11`);
  const run = (command, args) => spawnSync(command, args, { cwd: copy, stdio: 'inherit' }).status;
  const status =
    // Some development tools have peers of Nest 12 only.
    run('npm', [
      'install',
      '--legacy-peer-deps',
      '--no-save',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      ...names,
    ]) || run('npm', ['test', '--', ...process.argv.slice(2)]);
  process.exitCode = status ?? 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
