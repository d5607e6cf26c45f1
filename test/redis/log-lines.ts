import type { LoggerService } from '@nestjs/common';

/** A logger whose lines can be waited for. */
export class LogLines implements LoggerService {
  readonly lines: string[] = [];
  private readonly waiting = new Set<() => void>();

  readonly log = (message: unknown): void => this.put(`log ${String(message)}`);
  readonly warn = (message: unknown): void => this.put(`warn ${String(message)}`);
  readonly error = (message: unknown): void => this.put(`error ${String(message)}`);

  /** The lines with a text, once there are so many. */
  async until(text: string, count = 1): Promise<string[]> {
    for (;;) {
      const found = this.lines.filter(line => line.includes(text));
      if (found.length >= count) return found;
      await new Promise<void>(resolve => this.waiting.add(resolve));
    }
  }

  put(line: string): void {
    this.lines.push(line);
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}
