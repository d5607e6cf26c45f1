import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { MAX_UNREAD_BYTES } from '../http/event-stream.js';
import { BoundedStdio, MAX_UNREAD_TOTAL } from './bounded-stdio.js';
import { MAX_LINE_BYTES, StdinLines } from './stdin-lines.js';

/** A stdout whose client reads nothing until it is told to. */
class Stdout extends Writable {
  readonly sent: string[] = [];
  private goOn = () => undefined as void;
  private isRead = false;

  constructor() {
    super({ decodeStrings: false });
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.sent.push(chunk);
    if (this.isRead) done();
    else this.goOn = done;
  }

  read(): void {
    this.isRead = true;
    this.goOn();
  }
}

describe('the lines of stdin', () => {
  const start = (stdout: Writable = new Stdout()) => {
    const events = { onTooLong: jest.fn(), onEnd: jest.fn() };
    const lines = new StdinLines(stdout, events);
    const read: string[] = [];
    lines.on('data', (line: Buffer) => read.push(line.toString()));
    const write = (chunk: string) => new Promise(done => lines.write(chunk, done));
    return { lines, read, write, events };
  };

  it('are handed on whole, however they were cut', async () => {
    const { read, write } = start();
    for (const chunk of ['{"a":', '1}\n{"b"', ':2}\n{"c":3}\n{"d"']) await write(chunk);
    expect(read).toEqual(['{"a":1}\n', '{"b":2}\n', '{"c":3}\n']);
  });

  it('are skipped where they are too long, with one word for each', async () => {
    const { read, write, events } = start();
    const half = 'x'.repeat(MAX_LINE_BYTES / 2);
    for (const chunk of [half, half, half, 'x\n', '{"next":1}\n']) await write(chunk);
    expect(events.onTooLong).toHaveBeenCalledTimes(1);
    expect(read).toEqual(['{"next":1}\n']);
  });

  it('wait while much of stdout is unread', async () => {
    const stdout = new Stdout();
    const { lines, read, write } = start(stdout);
    stdout.write('x'.repeat(MAX_UNREAD_BYTES + 1));
    const given = once(lines, 'data');
    const first = write('{"a":1}\n');
    const second = write('{"b":2}\n');
    await given;
    await new Promise(setImmediate);
    expect(read).toEqual(['{"a":1}\n']);
    stdout.read();
    await Promise.all([first, second]);
    expect(read).toEqual(['{"a":1}\n', '{"b":2}\n']);
  });

  it('stay open when stdin ends, and say so', async () => {
    const { lines, events } = start();
    const said = new Promise<void>(resolve => events.onEnd.mockImplementation(resolve));
    const ended = jest.fn();
    lines.once('end', ended).end();
    await said;
    await new Promise(setImmediate);
    expect(ended).not.toHaveBeenCalled();
  });
});

describe('a client that does not read stdout', () => {
  const notification = (method: string): JSONRPCMessage => ({ jsonrpc: '2.0', method });
  const answer: JSONRPCMessage = { jsonrpc: '2.0', id: 1, result: {} };
  const start = async (unread: number) => {
    const stdout = new Stdout();
    const onOverflow = jest.fn();
    const transport = new BoundedStdio(new PassThrough(), stdout, onOverflow);
    await transport.start();
    stdout.write('x'.repeat(unread));
    return { stdout, transport, onOverflow };
  };

  it.each(['notifications/progress', 'notifications/message', 'notifications/resources/updated'])(
    'is sent no more %s past 1 MiB, but answers',
    async method => {
      const { stdout, transport, onOverflow } = await start(MAX_UNREAD_BYTES + 1);
      await transport.send(notification(method));
      const sending = [notification('notifications/tools/list_changed'), answer].map(one =>
        transport.send(one),
      );
      stdout.read();
      await Promise.all(sending);
      expect(stdout.sent.slice(1).map(line => JSON.parse(line) as unknown)).toEqual([
        notification('notifications/tools/list_changed'),
        answer,
      ]);
      expect(onOverflow).not.toHaveBeenCalled();
    },
  );

  it('is sent progress below it', async () => {
    const { stdout, transport } = await start(1);
    const sending = transport.send(notification('notifications/progress'));
    stdout.read();
    await sending;
    expect(stdout.sent).toHaveLength(2);
  });

  it('is given up past 64 MiB, once', async () => {
    const { transport, onOverflow } = await start(MAX_UNREAD_TOTAL + 1);
    await expect(transport.send(answer)).rejects.toThrow('does not read stdout');
    await expect(transport.send(answer)).rejects.toThrow('does not read stdout');
    expect(onOverflow).toHaveBeenCalledTimes(1);
  });
});
