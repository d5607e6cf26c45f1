import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { InterceptorChain, type ChainParams, type InterceptorHost } from '../../dist/cjs/index.js';
import { CALL, chainOf, INTERCEPTORS, throughEngine } from './interceptors.js';
import { compare, type Effort } from './ratio.js';
import type { Line } from './report.js';
import { startServer } from './server-process.js';

const message = (interceptors: readonly string[]): ChainParams => ({
  event: 'tools/call',
  phase: 'request',
  direction: 'send',
  payload: CALL,
  interceptors,
});

const SLOW = Array.from({ length: 10 }, (_, index) => `slow-${index}`);
const ANY = Infinity;

/** What a remote interceptor costs: with a list for each message, without, and ten at a time. */
export async function benchRemote(effort: Effort): Promise<Line[]> {
  const server = await startServer('interceptor-server.js');
  const client = new Client(
    { name: 'bench', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    const host: InterceptorHost = { name: 'remote', client };
    const chain = await InterceptorChain.discover([host]);
    const run = async (names: readonly string[]) => {
      const { status } = await chain.execute(message(names));
      if (status !== 'success') throw new Error(`The chain ended as ${status}`);
    };
    const known = () => run(['fast']);
    const listed = () => InterceptorChain.execute([host], message(['fast']));
    const local = throughEngine(chainOf('validator', INTERCEPTORS.validator.sync, 1));
    const lines = [
      {
        name: '1 remote validator, listed before / 1 local validator',
        bound: ANY,
        ...(await compare(known, local, effort, 1)),
      },
      {
        name: '1 remote validator, listed before / listed each time',
        bound: 0.75,
        ...(await compare(known, listed, effort, 1)),
      },
      {
        name: '10 remote validators of 50 ms each / 1 of them',
        bound: 1.5,
        ...(await compare(
          () => run(SLOW),
          () => run(SLOW.slice(0, 1)),
          effort,
          1,
        )),
      },
    ];
    chain.close();
    return lines;
  } finally {
    await client.close();
    server.stop();
  }
}
