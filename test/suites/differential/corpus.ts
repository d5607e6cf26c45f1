import { BODY_CASES } from './cases/bodies.js';
import { ENVELOPE_CASES } from './cases/envelopes.js';
import { HEADER_CASES, HTTP_CASES } from './cases/headers.js';
import { METHOD_CASES } from './cases/methods.js';
import { ROUND_CASES } from './cases/rounds.js';
import { callTool } from './cases/request.js';
import recorded from './conformance-traffic.json';
import type { Pair } from './apps.js';
import type { Sent } from './send.js';

const unique = (requests: readonly Sent[]): Sent[] => [
  ...new Map(requests.map(request => [JSON.stringify(request), request])).values(),
];

/** Requests of 2026-07-28, and those of the 2025 era that need no session. */
export const CORPUS: readonly Sent[] = unique([
  ...(recorded.requests as unknown as readonly Sent[]),
  ...METHOD_CASES,
  ...ENVELOPE_CASES,
  ...HEADER_CASES,
  ...HTTP_CASES,
  ...BODY_CASES,
  ...ROUND_CASES,
]);

/** What the conformance suite sends in each of its sessions, after `initialize`. */
export const RECORDED_SESSIONS = recorded.sessions as unknown as readonly (readonly Sent[])[];

const PLACEHOLDER = /<state of (\w+)>/g;

/** Puts states that a server has handed out in the place of their names. */
export async function withStates({ ours }: Pair): Promise<(request: Sent) => Sent> {
  const states = new Map<string, string>();
  for (const name of ['askByAwait', 'askForState']) {
    const { body } = await ours.send(callTool(name, {}));
    const { requestState } = (body as { result: { requestState: string } }).result;
    states.set(name, JSON.stringify(requestState).slice(1, -1));
  }
  return request => ({
    ...request,
    ...(request.body !== undefined && {
      body: request.body.replace(PLACEHOLDER, (_, name: string) => states.get(name) ?? 'kept'),
    }),
  });
}
