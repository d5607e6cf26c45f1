import { Transform, type TransformCallback } from 'node:stream';

/**
 * Stdin for the SDK's transport. It does not end when stdin does: what runs by then is still to be answered, and the SDK
 * closes the connection at the end.
 */
export class StdinLines extends Transform {
  /** @param onEnd called once, after everything that came was handed on */
  constructor(private readonly onEnd: () => void) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(null, chunk);
  }

  /** Leaves the end open. */
  override _flush(): void {
    this.onEnd();
  }
}
