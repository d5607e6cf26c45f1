import type { Denial } from '../authoring.js';
import { SyntheticResponse } from '../chain/synthetic.js';
import { VALID } from '../protocol/read-result.js';
import { defined } from '../../util/defined.js';
import type { InterceptorType } from '../protocol/types.js';

/** Turns a return value into a result as on the wire. The chain refuses other values as malformed. */
export function normalise(type: InterceptorType, value: unknown, name: string, payload: unknown): unknown {
  switch (type) {
    case 'validation':
      return validation(value, name);
    case 'mutation':
      return mutation(value, payload);
    case 'sink':
      return { recorded: true, ...(isRecord(value) && 'recorded' in value && value) };
  }
}

function validation(value: unknown, name: string): unknown {
  if (value === true) return VALID;
  if (value === false) return denial([{ message: `Refused by ${name}`, severity: 'error' }]);
  if (Array.isArray(value)) return value.length === 0 ? VALID : denial(value as Denial[]);
  return isDenial(value) ? denial([value]) : value;
}

function denial(denials: readonly Denial[]): unknown {
  if (!denials.every(isDenial)) return undefined;
  const suggestions = denials.flatMap(({ suggestions = [] }) => suggestions);
  return {
    valid: false,
    messages: denials.map(({ path, message, severity }) => defined({ path, message, severity })),
    ...(suggestions.length > 0 && { suggestions }),
  };
}

function mutation(value: unknown, received: unknown): unknown {
  if (SyntheticResponse.is(value)) return value;
  if (value === undefined || value === received) return { modified: false, payload: received };
  return isResult(value) ? value : { modified: true, payload: value };
}

/** A result with `modified` and nothing else lacks its payload; it is not a payload. */
const isResult = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value['modified'] === 'boolean' &&
  (!value['modified'] || 'payload' in value || Object.keys(value).length === 1);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const isDenial = (value: unknown): value is Denial =>
  isRecord(value) &&
  typeof value['message'] === 'string' &&
  typeof value['severity'] === 'string' &&
  !('valid' in value);
