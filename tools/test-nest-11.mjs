// Runs the tests on Nest 11: in a copy of the checkout, because one Jest run takes one major of Nest.
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
  const run = (command, args, env = {}) =>
    spawnSync(command, args, { cwd: copy, stdio: 'inherit', env: { ...process.env, ...env } }).status;
  const status =
    run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', ...names]) ||
    run('npx', ['tsc', '--noEmit']) ||
    run('npx', ['jest', ...process.argv.slice(2)], { NODE_OPTIONS: '--experimental-vm-modules' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
