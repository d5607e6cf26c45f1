import type { LoggerService } from '@nestjs/common';
import type { Result } from '@modelcontextprotocol/server';
import { rowsOf, type Row } from '../protocol/methods.js';
import { logLine } from '../util/log-line.js';

/** The most characters of the names in the log. */
const MAX_LOGGED = 500;

/**
 * Leaves out the tools of a 2025-era backend that run only as tasks of 2025-11-25. Those were an experiment, which is
 * gone, so no caller of the gateway could call the tools.
 */
export class OldTasks {
  private isWarned = false;

  constructor(
    private readonly backend: string,
    private readonly logger: Pick<LoggerService, 'warn'>,
  ) {}

  /** Takes a page of `tools/list`. */
  without(page: Result): Result {
    const tools = rowsOf('tools/list', page);
    const needing = tools.filter(needsTask);
    if (needing.length === 0) return page;
    this.warnOnce(needing);
    return { ...page, tools: tools.filter(tool => !needsTask(tool)) };
  }

  private warnOnce(needing: readonly Row[]): void {
    if (this.isWarned) return;
    this.isWarned = true;
    const names = needing.map(({ name }) => String(name)).join(', ');
    this.logger.warn(
      `The backend "${this.backend}" has tools that run only as tasks of 2025-11-25, so lists leave them out: ${logLine(names.slice(0, MAX_LOGGED))}`,
    );
  }
}

const needsTask = ({ execution }: Row): boolean =>
  (execution as { taskSupport?: unknown } | undefined)?.taskSupport === 'required';
