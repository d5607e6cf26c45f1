import { ConsoleLogger, type LogLevel } from '@nestjs/common';

/**
 * Nest's logger, writing to stderr. `McpModule.forRoot({ stdio: true })` installs it. With `forRootAsync`, pass it to
 * `NestFactory`.
 * @example
 * ```ts
 * await NestFactory.createApplicationContext(AppModule, { logger: new StderrLogger() });
 * ```
 */
export class StderrLogger extends ConsoleLogger {
  protected override printMessages(
    messages: unknown[],
    context?: string,
    logLevel?: LogLevel,
    _stream?: 'stdout' | 'stderr',
    ...rest: unknown[]
  ): void {
    super.printMessages(messages, context, logLevel, 'stderr', ...(rest as []));
  }
}
