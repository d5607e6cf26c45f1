import { DURATION_BOUNDS, OTHER } from '../conventions.js';
import { defined } from '../../util/defined.js';
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

/** The operations of one place. */
export class Operations {
  private readonly known = new Map<string, { readonly key: OperationKey; readonly duration: Histogram }>();

  /** @param total counts the operations of all places */
  constructor(
    private readonly place: Pick<McpOperation, 'side' | 'name'>,
    private readonly total: { count: number },
  ) {}

  record(key: OperationKey, durationMs: number): void {
    const known = this.known.get(idOf(key)) ?? this.add(key);
    known.duration.record(durationMs / 1000);
  }

  snapshot(): McpOperation[] {
    return [...this.known.values()].map(({ key, duration }) => ({
      ...this.place,
      ...key,
      duration: duration.snapshot(),
    }));
  }

  private add(wanted: OperationKey) {
    const key = this.total.count < MAX_OPERATIONS ? defined({ ...wanted }) : { method: OTHER };
    const known = this.known.get(idOf(key));
    if (known) return known;
    this.total.count += 1;
    const added = { key, duration: new Histogram(DURATION_BOUNDS) };
    this.known.set(idOf(key), added);
    return added;
  }
}

/** The name comes last, because another server may choose any name. */
const idOf = ({ method, tool, prompt, errorType }: OperationKey): string =>
  `${method} ${errorType ?? ''} ${tool ?? prompt ?? ''}`;
