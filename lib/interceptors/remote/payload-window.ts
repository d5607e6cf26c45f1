import { pointerSteps } from '../../schema/json-schema.js';
import { isRecord } from '../../util/is-record.js';
import { changes } from '../chain/diff.js';

export class PayloadWindow {
  private readonly places: readonly { readonly path: string; readonly steps: readonly string[] }[];

  constructor(pointers: readonly string[]) {
    this.places = pointers.map(path => ({ path, steps: pointerSteps(path) }));
  }

  narrow(payload: unknown): unknown {
    let narrowed: unknown = {};
    for (const { steps } of this.places) {
      const found = lookUp(payload, steps);
      if (found) narrowed = put(narrowed, steps, found.value);
    }
    return narrowed;
  }

  /** @throws Error if the host changed a part that it was not sent */
  widen(payload: unknown, changed: unknown): unknown {
    for (const { path } of changes(this.narrow(payload), changed)) {
      const isSent = this.places.some(place => path === place.path || path.startsWith(`${place.path}/`));
      if (!isSent) throw new Error(`it changed ${path}, which it was not sent`);
    }
    let whole = payload;
    for (const { steps } of this.places) {
      const found = lookUp(changed, steps);
      whole = found ? put(whole, steps, found.value) : without(whole, steps);
    }
    return whole;
  }
}

function lookUp(value: unknown, steps: readonly string[]): { readonly value: unknown } | undefined {
  let node = value;
  for (const step of steps) {
    if (!isRecord(node) || !Object.hasOwn(node, step)) return undefined;
    node = node[step];
  }
  return { value: node };
}

function put(node: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value;
  const fields = isRecord(node) ? node : {};
  const own = Object.hasOwn(fields, step) ? fields[step] : undefined;
  return Object.fromEntries([...Object.entries(fields), [step, put(own, rest, value)]]);
}

function without(node: unknown, [step, ...rest]: readonly string[]): unknown {
  if (!isRecord(node) || step === undefined || !Object.hasOwn(node, step)) return node;
  const entries = Object.entries(node);
  return Object.fromEntries(
    rest.length === 0
      ? entries.filter(([key]) => key !== step)
      : entries.map(([key, value]) => [key, key === step ? without(value, rest) : value]),
  );
}
