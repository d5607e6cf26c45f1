// Runs a set of the tests: `node tools/test.mjs fast|full|soak [--short] [Jest's options]`. The type check runs beside
// them, but for the soak, which has none. `--short` makes the loops of the soak short.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const [set, ...options] = process.argv.slice(2);
const args = options.filter(option => option !== '--short');
const isShort = args.length < options.length;
const isWatching = args.some(arg => arg.startsWith('--watch'));

async function typeCheck() {
  const check = spawn('npm', ['run', '--silent', 'typecheck', '--', '--pretty'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = check.stdout.setEncoding('utf8').toArray();
  const [status] = await once(check, 'close');
  return { status, output: (await output).join('') };
}

async function test() {
  const { NODE_OPTIONS = '' } = process.env;
  const env = {
    ...process.env,
    // Each test file loads Nest anew, which leaves much young garbage.
    NODE_OPTIONS: `${NODE_OPTIONS} --experimental-vm-modules --max-semi-space-size=32`.trim(),
    TEST_SET: set === 'soak' && isShort ? 'soak-short' : set,
  };
  const [status] = await once(spawn('npx', ['jest', ...args], { stdio: 'inherit', env }), 'close');
  return status;
}

const checking = set === 'soak' ? { status: 0 } : typeCheck();
if (isWatching) process.stdout.write((await checking).output ?? '');
const tested = await test();
const checked = await checking;
if (checked.status !== 0) {
  // After the tests, whose report would hide it.
  if (!isWatching) process.stdout.write(checked.output);
  console.error('The type check failed.');
}
process.exitCode = tested || checked.status ? 1 : 0;
