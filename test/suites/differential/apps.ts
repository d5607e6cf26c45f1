import type { Server } from 'node:http';
import type { McpModuleOptions } from 'nestjs-mcp';
import { Diagnostics } from '../conformance/server/diagnostics.js';
import { ElicitationTools } from '../conformance/server/elicitation.js';
import { InputRequired } from '../conformance/server/input-required.js';
import { Prompts } from '../conformance/server/prompts.js';
import { Resources } from '../conformance/server/resources.js';
import { Tools } from '../conformance/server/tools.js';
import { startApp, type Platform } from '../../fixtures/matrix.js';
import { DifferentialPrompts, DifferentialResources } from './fixture-prompts.js';
import { DifferentialTools } from './fixture-tools.js';
import { startReference } from './reference.js';
import { Sender } from './send.js';

const HANDLERS = [
  DifferentialTools,
  DifferentialPrompts,
  DifferentialResources,
  Tools,
  ElicitationTools,
  InputRequired,
  Diagnostics,
  Resources,
  Prompts,
];

const MCP = {
  // The states that one of the two hands out are good for the other.
  mrtr: { secret: 'the same secret of both servers, at least 32 bytes' },
  sessions: { max: 100_000 },
  pageSize: 20,
};

/** The application, and the same application behind the SDK's own way to answer. */
export interface Pair {
  readonly reference: Sender;
  readonly ours: Sender;
  close(): Promise<void>;
}

export async function startPair(
  legacy: NonNullable<McpModuleOptions['legacy']>,
  platform: Platform,
): Promise<Pair> {
  const options = { platform, mcp: { ...MCP, legacy }, forceCloseConnections: true };
  const application = await startApp(HANDLERS, options);
  // Another one, so that what one of the two is told of changes is not told by the other.
  const behind = await startApp(HANDLERS, options);
  // On a machine that is busy for seconds, Node would close what a client is about to use again.
  (application.app.getHttpServer() as Server).keepAliveTimeout = 0;
  const sdk = await startReference(behind.app, legacy);
  const ours = new Sender(await application.url());
  const reference = new Sender(sdk.url);
  return {
    ours,
    reference,
    async close() {
      ours.close();
      reference.close();
      await sdk.close();
      await application.close();
      await behind.close();
    },
  };
}
