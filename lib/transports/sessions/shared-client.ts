import type { SharedChannel } from '../../protocol/mcp-call.js';
import { isRecord } from '../../util/is-record.js';
import { jsonIn } from '../../util/json-in.js';
import type { Peers } from './peers.js';

/** How often a node tries to replace a text while other nodes replace other texts. */
const MAX_TRIES = 5;

/** The client's side of a session, and the texts that its nodes share. */
export class SharedClient implements SharedChannel {
  isOver = false;

  constructor(
    private readonly peers: Peers,
    readonly subscribed: ReadonlySet<string>,
  ) {}

  get isHome(): boolean {
    return this.peers.isHome;
  }

  async read(name: string): Promise<string | undefined> {
    return textsIn(await this.peers.readChannel())[name];
  }

  async replace(name: string, expected: string | undefined, text: string | undefined): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = await this.peers.readChannel();
      // The session has ended, or a node of another version has opened it.
      if (before === undefined) return true;
      const texts = textsIn(before);
      if (texts[name] !== expected) return false;
      if (await this.peers.writeChannel(JSON.stringify({ ...texts, [name]: text }), before)) return true;
    }
    return false;
  }
}

const textsIn = (json: string | undefined): Readonly<Record<string, string | undefined>> => {
  const texts = jsonIn(json);
  return isRecord(texts) ? (texts as Record<string, string>) : {};
};
