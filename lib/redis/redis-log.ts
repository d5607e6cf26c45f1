import { Logger } from '@nestjs/common';

/** Logs each beginning and each end of an outage of Redis once. */
export class RedisLog {
  private readonly logger = new Logger('McpRedis');
  /** Whether Redis is not available now. */
  isLost = false;

  succeeded(): void {
    this.logger.log(this.isLost ? 'Redis is available again' : 'Connected to Redis');
    this.isLost = false;
  }

  failed(error: Error): void {
    if (this.isLost) return;
    this.isLost = true;
    this.logger.warn(
      `Redis is not available (${reasonOf(error)}). Until it is available again, the server refuses calls that need it and misses changes on other nodes`,
    );
  }
}

/** An error about several addresses has a code but no message. */
const reasonOf = ({ message, code }: NodeJS.ErrnoException): string => code ?? message.slice(0, 200);
