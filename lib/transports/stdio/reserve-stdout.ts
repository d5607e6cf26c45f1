import { Writable } from 'node:stream';

/** Stdout, for the protocol alone. */
export interface ReservedStdout {
  readonly stream: Writable;
  /** Settles once the client has everything that was written so far. */
  flushed(): Promise<void>;
  release(): void;
}

let reserved: ReservedStdout | undefined;

/**
 * Keeps stdout for the protocol: whatever else the process writes there (`console.log`, another logger) goes to
 * stderr, because a single stray line would break the client's parser. Asked again, it hands out what is reserved.
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
  // Each message that waits listens to the stream.
  stream.setMaxListeners(0);
  // A client that went away is an error of the stream above: here, it would end the process.
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
