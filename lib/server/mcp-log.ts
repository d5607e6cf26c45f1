import type { LoggingLevel } from '@modelcontextprotocol/server';

type SendLog = (level: LoggingLevel, data: unknown, logger?: string) => Promise<void>;
type LogMethod = (data: unknown, logger?: string) => Promise<void>;

/** Sends log messages to the client: `log('info', data)` or `log.info(data)`. */
export type McpLog = SendLog & Readonly<Record<LoggingLevel, LogMethod>>;

const LEVELS: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** Whether a message of a level is as severe as another level, or more. */
export const isAtLeast = (least: LoggingLevel, level: LoggingLevel): boolean =>
  LEVELS.indexOf(level) >= LEVELS.indexOf(least);

/** @param send becomes the log: it is given a method for each level */
export function createLog(send: SendLog): McpLog {
  const methods = LEVELS.map((level): [LoggingLevel, LogMethod] => [
    level,
    (data, logger) => send(level, data, logger),
  ]);
  return Object.assign(send, Object.fromEntries(methods) as Record<LoggingLevel, LogMethod>);
}
