import { Logger } from '@nestjs/common';

/** Logs each beginning and each end of an outage of Redis once. */
export class RedisLog {
  private readonly logger = new Logger('McpRedis');
  private hasFailed = false;

  /** Whether Redis is not available now. */
  get isLost(): boolean {
    return this.hasFailed;
  }

  succeeded(): void {
    this.logger.log(this.hasFailed ? 'Redis is available again' : 'Connected to Redis');
    this.hasFailed = false;
  }

  failed(error: Error): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    this.logger.warn(
      `Redis is not available (${reasonOf(error)}). Until it is available again, the server refuses calls that need it and misses changes on other nodes`,
    );
  }
}

/** An error about several addresses has a code but no message. */
const reasonOf = ({ message, code }: NodeJS.ErrnoException): string => code ?? message.slice(0, 200);
