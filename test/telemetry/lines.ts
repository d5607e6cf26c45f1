import type { LoggerService } from '@nestjs/common';

/** A logger that keeps its lines, but for the errors: these have the details of what is unexpected. */
export class Lines implements LoggerService {
  readonly written: (readonly unknown[])[] = [];
  readonly log = (...line: unknown[]): void => void this.written.push(line);
  readonly warn = this.log;
  readonly debug = this.log;
  readonly verbose = this.log;
  readonly error = (): void => undefined;

  /** The first arguments of the lines of a logger, by how its name begins. */
  of(name: string): readonly Readonly<Record<string, unknown>>[] {
    return this.written
      .filter(line => String(line.at(-1)).startsWith(name))
      .map(([line]) => line as Readonly<Record<string, unknown>>);
  }
}
