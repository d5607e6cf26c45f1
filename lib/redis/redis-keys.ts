import { createHash } from 'node:crypto';
import type { RedisCommands, RedisLink } from './redis-link.js';

/** A Lua script. Its text is sent only to a Redis that does not know it. */
export class RedisScript {
  private readonly sha: string;

  constructor(private readonly text: string) {
    this.sha = createHash('sha1').update(text).digest('hex');
  }

  async run(client: RedisCommands, keys: string[], args: string[]): Promise<unknown> {
    const options = { keys, arguments: args };
    try {
      return await client.evalSha(this.sha, options);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return client.eval(this.text, options);
    }
  }
}

/** What is kept in Redis, under the prefix of the application. */
export abstract class RedisKeys {
  constructor(
    protected readonly redis: RedisLink,
    private readonly prefix: string,
  ) {}

  /** Keys with the same id are on the same shard of a cluster. */
  protected keyOf(kind: string, id: string, rest = ''): string {
    return `${this.prefix}${kind}:{${id}}${rest}`;
  }

  protected eval(script: RedisScript, keys: string[], args: string[]): Promise<unknown> {
    return this.redis.run(client => script.run(client, keys, args));
  }
}
