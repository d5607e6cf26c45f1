import { randomInt } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** What costs time and money. It prints what it does, so that nothing is done twice unseen. */
@Injectable()
export class Pipeline {
  private readonly node = process.env.NODE_NAME ?? 'node';

  say(text: string) {
    console.log(`  ${this.node}: ${text}`);
  }

  build(service: string) {
    const build = randomInt(1000, 10_000);
    this.say(`builds ${service} ${build}`);
    return { build };
  }

  async rollOut(what: string, region: string, signal: AbortSignal) {
    this.say(`starts to roll out ${what} in ${region}`);
    await after(300, undefined, { signal });
    this.say(`rolled out ${what} in ${region}`);
    return { host: `${region}.example.com` };
  }
}
