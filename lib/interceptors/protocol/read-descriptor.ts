import { isRecord } from '../../util/is-record.js';
import { defined } from '../../util/defined.js';
import type { Hook, InterceptorDescriptor, InterceptorType, Mode, Phase, PriorityHint } from './types.js';

export type ReadDescriptor =
  | { readonly ok: true; readonly descriptor: InterceptorDescriptor }
  | { readonly ok: false; readonly reason: string };

const TYPES = new Map<unknown, InterceptorType>([
  ['validation', 'validation'],
  ['mutation', 'mutation'],
  ['sink', 'sink'],
  ['observability', 'sink'],
]);

/** The Go SDK writes an unset mode as an empty string. */
const MODES = new Map<unknown, Mode>([
  ['active', 'active'],
  ['enforce', 'active'],
  ['audit', 'audit'],
  ['', 'active'],
]);

const isPriority = (value: unknown): value is number =>
  Number.isInteger(value) && value === (value as number) >> 0;

type Json = Readonly<Record<string, unknown>>;

/** Reads a descriptor, including the older forms `hook`, `both`, `enforce`, `observability` and `*\/request`. */
export function readDescriptor(value: unknown): ReadDescriptor {
  if (!isRecord(value)) return refuse('it is not an object');
  const { name, version, description, configSchema } = value;
  if (typeof name !== 'string' || name === '') return refuse('it has no name');
  const type = TYPES.get(value['type']);
  if (type === undefined) return refuse(unknown('type', value['type']));
  const mode = MODES.get(value['mode'] ?? '');
  if (mode === undefined) return refuse(unknown('mode', value['mode']));
  const hooks = readHooks(value['hooks'] ?? value['hook']);
  if (hooks.length === 0) return refuse('it does not hook an event');
  return {
    ok: true,
    descriptor: defined({
      name,
      type,
      hooks,
      version: typeof version === 'string' ? version : undefined,
      description: typeof description === 'string' ? description : undefined,
      mode: mode === 'active' ? undefined : mode,
      failOpen: value['failOpen'] === true || undefined,
      priorityHint: readPriority(value['priorityHint']),
      compat: readCompat(value['compat']),
      configSchema: isRecord(configSchema) ? configSchema : undefined,
    }),
  };
}

export function readHooks(value: unknown): Hook[] {
  const hooks = (Array.isArray(value) ? value : [value]).filter(isRecord).flatMap(hook => readHook(hook));
  return [
    ...hooks.filter(({ phase }) => phase === 'request'),
    ...hooks.filter(({ phase }) => phase === 'response'),
  ];
}

function readHook({ events, phase }: Json): Hook[] {
  const phases: readonly Phase[] =
    phase === 'both' ? ['request', 'response'] : phase === 'request' || phase === 'response' ? [phase] : [];
  const names = Array.isArray(events)
    ? events.filter(event => typeof event === 'string' && event !== '')
    : [];
  return phases.flatMap(one => {
    const own = (names as string[]).flatMap(name => readEvent(name, one));
    return own.length > 0 ? [{ events: [...new Set(own)], phase: one }] : [];
  });
}

/** `*\/request` is an older form of `*` for that phase only. */
function readEvent(name: string, phase: Phase): string[] {
  if (name !== '*/request' && name !== '*/response') return [name];
  return name === `*/${phase}` ? ['*'] : [];
}

function readPriority(value: unknown): PriorityHint | undefined {
  if (isPriority(value)) return value === 0 ? undefined : value;
  if (!isRecord(value)) return undefined;
  const { request, response } = value;
  const hint = {
    ...(isPriority(request) && request !== 0 && { request }),
    ...(isPriority(response) && response !== 0 && { response }),
  };
  return Object.keys(hint).length > 0 ? hint : undefined;
}

/** The C# SDK writes an unset maximum as null. */
function readCompat(value: unknown): InterceptorDescriptor['compat'] {
  if (!isRecord(value)) return undefined;
  const { minProtocol, maxProtocol } = value;
  if (typeof minProtocol !== 'string') return undefined;
  if (maxProtocol === undefined || maxProtocol === null) return { minProtocol };
  return typeof maxProtocol === 'string' ? { minProtocol, maxProtocol } : undefined;
}

const refuse = (reason: string): ReadDescriptor => ({ ok: false, reason });

const SHOWN = 60;

/** Shows only the beginning of a value, so that a remote host cannot fill the log. */
const unknown = (field: string, value: unknown): string =>
  typeof value === 'string'
    ? `its ${field} ${JSON.stringify(value.slice(0, SHOWN))} is unknown`
    : `its ${field} is not a string`;
