import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { buffer } from 'node:stream/consumers';

export interface RoundRobin {
  readonly url: string;
  /** Which node has answered last, by its index. */
  readonly last: number;
  close(): void;
}

/** A proxy that hands each request to the next node. If that is gone, or shuts down, the one after gets the request. */
export async function roundRobin(
  nodes: readonly string[],
  report: (line: string) => void = console.log,
): Promise<RoundRobin> {
  let turn = 0;
  let last = -1;

  const forward = async (incoming: IncomingMessage): Promise<IncomingMessage> => {
    const body = await buffer(incoming);
    const first = turn++;
    for (let tried = 0; tried < nodes.length; tried++) {
      const index = (first + tried) % nodes.length;
      try {
        const answer = await ask(nodes[index], incoming, body);
        if (answer.statusCode === 503 && tried < nodes.length - 1) {
          answer.resume();
          continue;
        }
        last = index;
        return answer;
      } catch (error) {
        // Only what no node has seen can be sent again.
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
        report(`  proxy: node ${index + 1} is gone`);
      }
    }
    throw new Error('No node is left');
  };

  const server = createServer((incoming, outgoing) => {
    forward(incoming).then(
      answer => pipeline(answer, outgoing.writeHead(answer.statusCode!, answer.headers), () => undefined),
      (error: Error) => outgoing.writeHead(502).end(error.message),
    );
  });
  // By default, Node lets 511 connections wait.
  await once(server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    get last() {
      return last;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function ask(
  node: string,
  { method, headers, url = '' }: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> {
  // A connection that was kept can be one to a node that is gone.
  const outgoing = send(new URL(url, node), { method, headers, agent: false });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  outgoing.end(body);
  return (await answered)[0];
}
