import { InvalidArgumentsException } from '../../exceptions/invalid-arguments.exception.js';
import type { RouteValues } from '../../execution/route/route-request.js';
import { isRecord } from '../../util/is-record.js';
import type { Place, RouteInput } from './route-types.js';

type Fields = [key: string, value: unknown][];

/**
 * Divides the arguments of a tool into the parts of a request, as the router would have decoded them.
 * @throws InvalidArgumentsException for a path variable that is not a text, a number or a boolean, and for a name that an
 * argument had before it was renamed
 */
export function routeValues({ args, rest }: RouteInput, data: unknown, subject: string): RouteValues {
  const given = isRecord(data) ? data : {};
  const fields: Record<Place, Fields> = { path: [], query: [], body: [] };
  let list: unknown;
  const known = new Set(args.map(({ name }) => name));
  for (const { place, key, name, isRequired } of args) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (place === 'path' && (isRequired || value !== undefined)) assertSegment(value, name, subject);
    if (value === undefined) continue;
    if (key === undefined) list = value;
    else fields[place].push([key, value]);
  }
  for (const [key, value] of rest ? Object.entries(given) : []) {
    if (known.has(key)) continue;
    // It would replace the argument that has another name here.
    if (args.some(arg => arg.place === rest && arg.key === key)) {
      throw new InvalidArgumentsException(subject, [{ path: key, message: 'must not be given' }]);
    }
    fields[rest!].push([key, value]);
  }
  const hasBody = list !== undefined || rest === 'body' || args.some(({ place }) => place === 'body');
  return {
    params: Object.fromEntries(fields.path.map(([key, value]) => [key, String(value)])),
    query: Object.fromEntries(fields.query.flatMap(queryField)),
    body: hasBody ? (list ?? Object.fromEntries(fields.body)) : undefined,
  };
}

/** Refuses what no path can hold: parsers of URLs take `.` and `..` as steps between folders. */
function assertSegment(value: unknown, path: string, subject: string): void {
  const refuse = (message: string) => new InvalidArgumentsException(subject, [{ path, message }]);
  if (value === undefined) throw refuse('must be given');
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw refuse('must be a text, a number or a boolean');
  const text = String(value);
  if (text === '' || text === '.' || text === '..') throw refuse('must not be empty, "." or ".."');
  try {
    encodeURIComponent(text);
  } catch {
    throw refuse('must be well-formed Unicode');
  }
}

/** A URL holds texts and lists of texts. It cannot hold null or an empty list. */
function queryField([key, value]: Fields[number]): Fields {
  const text = textOf(value);
  return text === undefined || (Array.isArray(text) && text.length === 0) ? [] : [[key, text]];
}

function textOf(value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.map(textOf).filter(item => item !== undefined);
  if (!isRecord(value)) return `${value as string | number | boolean}`;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, textOf(item)]));
}
