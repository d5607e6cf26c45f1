import { Writable } from 'node:stream';

/** Stdout, reserved for the protocol. */
export interface ReservedStdout {
  readonly stream: Writable;
  /** Resolves after all data written so far has been passed to the client. */
  flushed(): Promise<void>;
  release(): void;
}

let reserved: ReservedStdout | undefined;

/**
 * Reserves stdout for the protocol. Other output of the process (`console.log`, another logger) goes to stderr, because
 * a stray line would break the client's parser. Later calls return the same reservation.
 */
export function reserveStdout(): ReservedStdout {
  return (reserved ??= reserve());
}

function reserve(): ReservedStdout {
  const own = Object.getOwnPropertyDescriptor(process.stdout, 'write');
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, encoding, done) => void write(chunk, encoding, done),
  });
  // Each waiting message adds a listener to the stream.
  stream.setMaxListeners(0);
  // The stream above reports that the client has gone. Unhandled here, the error would end the process.
  const ignore = () => undefined;
  process.stdout.on('error', ignore);
  return {
    stream,
    flushed: () => new Promise(resolve => stream.write('', () => resolve())),
    release: () => {
      process.stdout.off('error', ignore);
      if (own) Object.defineProperty(process.stdout, 'write', own);
      else Reflect.deleteProperty(process.stdout, 'write');
      reserved = undefined;
    },
  };
}
