import { createHash } from 'node:crypto';
import type { RedisCommands } from './redis-link.js';

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
