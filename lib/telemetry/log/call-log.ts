import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import type { TrafficRequest } from '../../protocol/traffic-listener.js';
import type { Ending } from '../ending.js';
import { recorded } from '../recording.js';
import type { Subject } from '../subject.js';
import type { TelemetrySettings } from '../telemetry-options.js';

/** A log line: an object for loggers that write JSON, and one line of text for others. */
class CallLine {
  constructor(fields: Readonly<Record<string, string | number | undefined>>) {
    Object.assign(this, fields);
  }

  [inspect.custom](): string {
    return this.toString();
  }

  toString(): string {
    return Object.entries(this)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => `${key}=${typeof value === 'string' ? quoted(value) : value}`)
      .join(' ');
  }
}

/** Characters that JSON leaves as they are, and that begin a line, steer a terminal or turn the direction of the text. */
const MISLEADING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A caller's text must not look like another field or another line. */
const quoted = (text: string): string =>
  /^[\w./:-]+$/.test(text) ? text : JSON.stringify(text).replace(MISLEADING, escaped);

export interface LoggedCall {
  readonly server: string;
  readonly request: TrafficRequest;
  readonly subject: Subject;
  readonly ending: Ending;
  readonly durationMs: number;
  readonly traceId: string | undefined;
  readonly result: unknown;
}

/** Writes one line for each request that a server answered. */
export class CallLog {
  private readonly logger = new Logger('McpCalls');

  constructor(
    private readonly level: Exclude<TelemetrySettings['callLog'], false>,
    private readonly settings: Pick<TelemetrySettings, 'recordArguments' | 'recordResults'>,
  ) {}

  write({ server, request, subject, ending, durationMs, traceId, result }: LoggedCall): void {
    const { tool, prompt, uri, method } = subject;
    const { recordArguments, recordResults } = this.settings;
    const isTool = tool !== undefined;
    this.logger[this.level](
      new CallLine({
        server,
        method,
        name: (tool ?? prompt ?? uri)?.slice(0, MAX_NAME),
        caller: callerIn(request),
        era: request.era,
        durationMs: Math.round(durationMs * 1000) / 1000,
        outcome: ending.errorType ?? ending.resultType ?? 'ok',
        reference: ending.reference,
        traceId,
        ...(recordArguments && isTool && { arguments: recorded(request.params?.['arguments'] ?? {}) }),
        ...(recordResults && isTool && result !== undefined && { result: recorded(result) }),
      }),
    );
  }
}

const MAX_NAME = 200;

/** The subject of the token, else the OAuth client, else the id of `request.user`. */
function callerIn({ authInfo, http }: TrafficRequest): string {
  const user: unknown = http && Reflect.get(http.request, 'user');
  const { id, sub } = (user ?? {}) as { id?: unknown; sub?: unknown };
  const known = [authInfo?.extra?.['sub'], authInfo?.clientId, id, sub].find(
    one => typeof one === 'string' || typeof one === 'number',
  );
  return known === undefined ? 'anonymous' : String(known).slice(0, MAX_NAME);
}
