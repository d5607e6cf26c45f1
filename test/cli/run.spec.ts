import { ROOT, runIn } from './io.js';

const COMMANDS = ['surface', 'server.json', 'doctor', 'migrate', 'client-config'];

describe('nestjs-mcp', () => {
  it('lists its commands', async () => {
    const { code, out } = await runIn(ROOT, '--help');
    expect(code).toBe(0);
    expect(COMMANDS.filter(command => !out.includes(`  ${command} `))).toEqual([]);
  });

  it.each([[[]], [['no-command']], [['constructor']]])('refuses %j, with its usage', async args => {
    const { code, out, err } = await runIn(ROOT, ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('Usage: nestjs-mcp <command>');
  });

  it.each(COMMANDS)('%s prints its usage, and refuses unknown options', async command => {
    const usage = await runIn(ROOT, command, '--help');
    expect(usage).toMatchObject({ code: 0, err: '' });
    expect(usage.out).toContain(`Usage: nestjs-mcp ${command}`);

    const refused = await runIn(ROOT, command, '--no-such-option');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(new RegExp(`^nestjs-mcp ${command}: Unknown option '--no-such-option'`));
    expect(refused.err).not.toContain('    at ');
    expect(refused.err).not.toContain('positional');
  });

  it.each([
    ['surface', [], 'more', '(--url <url> | --module <file#Class>) [options]'],
    ['server.json', [], 'more', '--module <file#Class> [options]'],
    ['client-config', [], 'node', '--for <client> (--url <url> | -- <command> [arguments])'],
    ['doctor', ['.'], 'more', '[folder]'],
  ])('%s refuses a further argument, with its own', async (command, args, further, usage) => {
    expect(await runIn(ROOT, command, ...args, further, '--')).toEqual({
      code: 1,
      out: '',
      err: `nestjs-mcp ${command}: unexpected argument "${further}"\nUsage: nestjs-mcp ${command} ${usage}\n`,
    });
  });
});
