import { DURATION_BOUNDS, OTHER } from '../conventions.js';
import { Histogram, type HistogramSnapshot } from './histogram.js';

/** Requests with the same method, name and outcome. */
export interface McpOperation {
  /** Whether the requests came in (`server`), or went out (`client`). */
  readonly side: 'server' | 'client';
  /** Name of the server, of the client, of the gateway's backend, or of the interceptor host. */
  readonly name: string;
  readonly method: string;
  /** Only of a tool that exists. */
  readonly tool?: string;
  /** Only of a prompt that exists. */
  readonly prompt?: string;
  /** `error.type` of the conventions. Undefined if the requests succeeded. */
  readonly errorType?: string;
  /** In seconds. */
  readonly duration: HistogramSnapshot;
}

/** The fields that all requests of one operation share, at one place. */
export type OperationKey = Pick<McpOperation, 'method' | 'tool' | 'prompt' | 'errorType'>;

/** Most operations that are counted separately. */
const MAX_OPERATIONS = 10_000;

type Place = Pick<McpOperation, 'side' | 'name'>;
type Target = string | undefined;

/** The operations of one place. A map in a map costs less than a text of all keys, which each request would make. */
export class Operations {
  private readonly methods = new Map<string, Map<Target, Map<Target, Histogram>>>();

  /** @param total counts the operations of all places */
  constructor(
    private readonly place: Place,
    private readonly total: { count: number },
  ) {}

  /** @param key is not kept */
  record(key: OperationKey, durationMs: number): void {
    const { method, tool, prompt, errorType } = key;
    const known = this.methods
      .get(method)
      ?.get(tool ?? prompt)
      ?.get(errorType);
    (known ?? this.add(key)).record(durationMs / 1000);
  }

  snapshot(): McpOperation[] {
    const all: McpOperation[] = [];
    for (const [method, targets] of this.methods) {
      for (const [target, outcomes] of targets) {
        for (const [errorType, duration] of outcomes) {
          all.push({
            ...this.place,
            method,
            ...(target !== undefined && { [method === 'tools/call' ? 'tool' : 'prompt']: target }),
            ...(errorType !== undefined && { errorType }),
            duration: duration.snapshot(),
          });
        }
      }
    }
    return all;
  }

  private add({ method, tool, prompt, errorType }: OperationKey): Histogram {
    if (this.total.count < MAX_OPERATIONS) return this.outcome(method, tool ?? prompt, errorType);
    return this.outcome(OTHER, undefined, undefined);
  }

  private outcome(method: string, target: Target, errorType: Target): Histogram {
    const outcomes = entryOf(
      entryOf(this.methods, method, newMap<Map<Target, Histogram>>),
      target,
      newMap<Histogram>,
    );
    return entryOf(outcomes, errorType, () => {
      this.total.count += 1;
      return new Histogram(DURATION_BOUNDS);
    });
  }
}

const newMap = <V>(): Map<Target, V> => new Map<Target, V>();

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
