import { AuthChallenge } from '../../exceptions/auth-challenge.js';
import { McpErrorCode } from '../../exceptions/mcp.exception.js';
import { isRefusal } from '../../interceptors/boundary/run-phase.js';
import type { Outcome } from '../../protocol/observation.js';
import type { TrafficPoint, TrafficRequest } from '../../protocol/traffic-listener.js';
import { callerOf } from '../../protocol/caller.js';
import { subjectOf } from '../../telemetry/subject.js';
import { clipped } from '../../util/clipped.js';
import { defined } from '../../util/defined.js';
import type { LiveCall, LiveServer } from '../api.js';
import { ANONYMOUS, principalIn } from '../views/principal.js';
import { Ring } from './ring.js';
import { TrafficBuckets } from './traffic-buckets.js';

const MAX_CALLS = 200;

/** The most characters of a name. */
const MAX_NAME = 200;

interface Row {
  readonly at: number;
  readonly point: TrafficPoint;
  readonly kind: 'tool' | 'prompt' | 'resource';
  /** As the caller wrote it. */
  readonly name: string | undefined;
  readonly shown: Omit<LiveCall, 'at' | 'name'>;
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
  private readonly traffic = new Map<string, TrafficBuckets>();

  get total(): number {
    return this.rows.total;
  }

  /** Calls and errors of a server in the latest periods. */
  trafficOf(server: string): LiveServer['traffic'] {
    return (this.traffic.get(server) ?? new TrafficBuckets()).latest(Date.now());
  }

  /** @param isOwn whether the explorer sent it */
  add(
    request: TrafficRequest,
    point: TrafficPoint,
    ended: Outcome,
    durationMs: number,
    isOwn: boolean,
  ): void {
    const { name: server, side } = point;
    const { method, tool, prompt, uri } = subjectOf(request, point);
    const name = tool ?? prompt ?? uri;
    const outcome = outcomeOf(ended);
    this.rows.push({
      at: Date.now() - durationMs,
      point,
      kind: tool !== undefined ? 'tool' : prompt !== undefined ? 'prompt' : 'resource',
      name: name === undefined ? undefined : clipped(name, MAX_NAME),
      shown: {
        id: this.rows.total + 1,
        server,
        side,
        method,
        outcome,
        durationMs,
        ...defined({ era: request.era, code: codeOf(ended), caller: callerIn(request) }),
        ...(isOwn && { isOwn }),
      },
    });
    if (isOwn) return;
    const buckets = this.traffic.get(server) ?? new TrafficBuckets();
    this.traffic.set(server, buckets);
    buckets.add(Date.now(), outcome !== 'ok' && outcome !== 'asked');
  }

  /** @param nameOf decides which names are shown: a caller can make others up */
  latest(nameOf: NameOf): LiveCall[] {
    return this.rows.latest().map(({ at, point, kind, name, shown }) => ({
      ...shown,
      at: new Date(at).toISOString(),
      ...defined({ name: name === undefined ? name : nameOf(point, kind, name, shown.outcome === 'ok') }),
    }));
  }
}

/** As in the lists of sessions, streams and tasks; undefined for an anonymous caller. */
function callerIn({ authInfo, http }: TrafficRequest): string | undefined {
  const name = principalIn(callerOf(authInfo, http?.request));
  return name === ANONYMOUS ? undefined : name;
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
