import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const OK = Buffer.from('HTTP/1.1 200 ');

/**
 * Sends one HTTP request again and again over one kept connection, each time after the answer to the last. Only the head
 * of the first answer is parsed; the rest is counted. That takes a third of autocannon's time, and a fifth of undici's: the
 * load has to be faster than the fastest server.
 */
export function repeat(
  port: number,
  request: Buffer,
  onAnswer: (ms: number) => void,
  onError: (error: Error) => void,
) {
  let sent = 0;
  let received = 0;
  let first: Buffer | undefined = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  /** Bytes of an answer; undefined if it is sent in chunks. */
  let length: number | undefined;

  const space = Buffer.alloc(65_536);
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: space, callback: size => read(space.subarray(0, size)) },
  });
  const send = () => {
    received = 0;
    sent = performance.now();
    socket.write(request);
  };

  function read(bytes: Buffer): boolean {
    if (received === 0 && bytes.length >= OK.length && bytes.compare(OK, 0, OK.length, 0, OK.length) !== 0) {
      fail(`Not answered with 200: ${bytes.toString('utf8', 0, 1000)}`);
      return false;
    }
    received += bytes.length;
    if (first) {
      first = Buffer.concat([first, bytes]);
      const head = first.indexOf(HEAD_END);
      if (head < 0) return true;
      const contentLength = /\r\ncontent-length: *(\d+)/i.exec(first.toString('latin1', 0, head))?.[1];
      length = contentLength === undefined ? undefined : head + HEAD_END.length + Number(contentLength);
    }
    if (length !== undefined && received > length) fail('An answer is longer than the first');
    if (length === undefined) tail = Buffer.concat([tail, bytes]).subarray(-LAST_CHUNK.length);
    if (length === undefined ? tail.equals(LAST_CHUNK) : received === length) {
      first = undefined;
      onAnswer(performance.now() - sent);
      send();
    }
    return true;
  }

  function fail(message: string): void {
    socket.destroy();
    onError(new Error(message));
  }

  socket.on('connect', send);
  socket.on('error', onError);
  socket.on('close', () => onError(new Error('The server closed a connection')));
}
