import type { LoggingLevel } from '@modelcontextprotocol/server';
import type { McpCall } from './mcp-call.js';

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

/** Sends a log message if the client's level includes it. */
export async function sendLog(
  { reply, minLogLevel }: Pick<McpCall, 'reply' | 'minLogLevel'>,
  level: LoggingLevel,
  data: unknown,
  logger?: string,
): Promise<void> {
  if (minLogLevel === undefined || LEVELS.indexOf(level) < LEVELS.indexOf(minLogLevel)) return;
  await reply.notify('notifications/message', { level, data, ...(logger !== undefined && { logger }) });
}

/** @param send becomes the log: it gets a method for each level */
export function createLog(send: SendLog): McpLog {
  const methods = LEVELS.map((level): [LoggingLevel, LogMethod] => [
    level,
    (data, logger) => send(level, data, logger),
  ]);
  return Object.assign(send, Object.fromEntries(methods) as Record<LoggingLevel, LogMethod>);
}
