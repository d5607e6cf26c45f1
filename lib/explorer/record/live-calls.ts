import { AuthChallenge } from '../../exceptions/auth-challenge.js';
import { McpErrorCode } from '../../exceptions/mcp.exception.js';
import { isRefusal } from '../../interceptors/boundary/run-phase.js';
import type { Era } from '../../protocol/mcp-call.js';
import type { Outcome, TrafficPoint, TrafficRequest } from '../../protocol/traffic-listener.js';
import { subjectOf } from '../../telemetry/subject.js';
import { clipped } from '../../util/clipped.js';
import type { LiveCall } from '../api.js';
import { Ring } from './ring.js';

const MAX_CALLS = 200;

/** The most characters of a name. */
const MAX_NAME = 200;

interface Row {
  readonly at: number;
  readonly id: number;
  readonly point: TrafficPoint;
  readonly method: string;
  readonly kind: 'tool' | 'prompt' | 'resource';
  /** As the caller wrote it. */
  readonly name: string | undefined;
  readonly era: Era | undefined;
  readonly outcome: LiveCall['outcome'];
  readonly code: number | undefined;
  readonly durationMs: number;
}

/** The known handler of a name at a place; undefined for an unknown name. */
export type NameOf = (
  point: TrafficPoint,
  kind: Row['kind'],
  name: string,
  isAnswered: boolean,
) => string | undefined;

/** The latest requests, without arguments, results and tokens. */
export class LiveCalls {
  private readonly rows = new Ring<Row>(MAX_CALLS);

  get total(): number {
    return this.rows.total;
  }

  add(request: TrafficRequest, point: TrafficPoint, ended: Outcome, durationMs: number): void {
    const { method, tool, prompt, uri } = subjectOf(request, point);
    const name = tool ?? prompt ?? uri;
    this.rows.push({
      at: Date.now() - durationMs,
      id: this.rows.total + 1,
      point,
      method,
      kind: tool !== undefined ? 'tool' : prompt !== undefined ? 'prompt' : 'resource',
      name: name === undefined ? undefined : clipped(name, MAX_NAME),
      era: request.era,
      outcome: outcomeOf(ended),
      code: codeOf(ended),
      durationMs,
    });
  }

  /** @param nameOf decides which names are shown: a caller can make others up */
  latest(nameOf: NameOf): LiveCall[] {
    return this.rows.latest().map(({ at, id, point, method, kind, name, era, outcome, code, durationMs }) => {
      const known = name === undefined ? undefined : nameOf(point, kind, name, outcome === 'ok');
      return {
        id,
        at: new Date(at).toISOString(),
        server: point.name,
        side: point.side,
        method,
        ...(known !== undefined && { name: known }),
        ...(era && { era }),
        outcome,
        ...(code !== undefined && { code }),
        durationMs,
      };
    });
  }
}

function outcomeOf(ended: Outcome): LiveCall['outcome'] {
  if ('result' in ended) {
    const { resultType, isError } = (ended.result ?? {}) as Record<string, unknown>;
    return resultType === 'input_required' ? 'asked' : isError === true ? 'tool error' : 'ok';
  }
  if (ended.aborted) return ended.aborted;
  const isRefused =
    ended.error instanceof AuthChallenge || codeOf(ended) === McpErrorCode.Refused || isRefusal(ended.error);
  return isRefused ? 'refused' : 'error';
}

function codeOf(ended: Outcome): number | undefined {
  const { code } = (('error' in ended && ended.error) || {}) as { code?: unknown };
  return Number.isSafeInteger(code) ? (code as number) : undefined;
}
