import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(__dirname, '../..');

/** Runs an ES module, which may await at its top level, in a process that has nothing else to do. */
async function run(body: string): Promise<{ code: unknown; output: string }> {
  const script = `
    import { createRequire } from 'node:module';
    const { InterceptorChain } = createRequire(${JSON.stringify(`${root}/`)})('./lib/interceptors/index.ts');
    const hangs = () => new Promise(() => undefined);
    const hooks = [{ events: ['a/b'], phase: 'request' }];
    const lists = async () => ({ interceptors: [{ name: 'slow', type: 'validation', hooks }] });
    const message = { event: 'a/b', phase: 'request', direction: 'send', payload: {} };
    ${body}
  `;
  const hook = join(root, 'test/fixtures/ts-hook.cjs');
  const child = spawn(process.execPath, ['-r', hook, '--input-type=module', '-e', script], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, output: output.trim() };
}

it.each([
  ['when it is listed', 'hangs'],
  ['when it is invoked', 'lists'],
])('a process waits for the time of a chain whose host hangs %s', async (_when, list) => {
  const ended = await run(`
    const host = { name: 'slow', discoveryTimeoutMs: 86_400_000, invoker: { list: ${list}, invoke: hangs } };
    const { status } = await InterceptorChain.execute([host], { ...message, timeoutMs: 200 });
    console.log(status);
  `);
  expect(ended).toEqual({
    code: 0,
    output: expect.stringMatching(/^(?:timeout|validation_failed)$/) as string,
  });
});

it('a process waits for the time of a discovery whose host hangs', async () => {
  const ended = await run(`
    const host = { name: 'slow', discoveryTimeoutMs: 200, invoker: { list: hangs, invoke: hangs } };
    await InterceptorChain.discover([host]).catch(error => console.log(error.message));
  `);
  expect(ended).toEqual({ code: 0, output: expect.stringContaining('it took longer than 200 ms') as string });
});

it('a process does not wait for time that nobody needs any more', async () => {
  const ended = await run(`
    const host = { name: 'quick', discoveryTimeoutMs: 86_400_000, invoker: { list: lists, invoke: async () => ({ valid: true }) } };
    const { status } = await InterceptorChain.execute([host], { ...message, timeoutMs: 86_400_000 });
    console.log(status);
  `);
  expect(ended).toEqual({ code: 0, output: 'success' });
});
