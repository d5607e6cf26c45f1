import type { LoggerService } from '@nestjs/common';
import type { Result } from '@modelcontextprotocol/server';
import { rowsOf, type Row } from '../protocol/methods.js';
import { logLine } from '../util/log-line.js';

/** The most characters of the names in the log. */
const MAX_LOGGED = 500;

/**
 * Leaves the tools of a 2025-era backend that run only as tasks of 2025-11-25 out of pages of `tools/list`. Those tasks
 * were an experiment, which is gone, so no caller of the gateway could call the tools.
 */
export function withoutOldTasks(
  backend: string,
  logger: Pick<LoggerService, 'warn'>,
): (page: Result) => Result {
  let isWarned = false;
  return page => {
    const tools = rowsOf('tools/list', page);
    const needing = tools.filter(needsTask);
    if (needing.length === 0) return page;
    if (!isWarned) {
      const names = needing.map(({ name }) => String(name)).join(', ');
      logger.warn(
        `The backend "${backend}" has tools that run only as tasks of 2025-11-25, so lists leave them out: ${logLine(names.slice(0, MAX_LOGGED))}`,
      );
    }
    isWarned = true;
    return { ...page, tools: tools.filter(tool => !needsTask(tool)) };
  };
}

const needsTask = ({ execution }: Row): boolean =>
  (execution as { taskSupport?: unknown } | undefined)?.taskSupport === 'required';
