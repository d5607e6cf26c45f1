import { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants.js';

/** The HTTP method and the path of a route, such as `POST` and `/orders/:id/cancel`. */
export interface RouteInfo {
  readonly method: string;
  readonly path: string;
  /** What `@RouteConfig()` of Fastify sets. */
  readonly config?: object;
}

/** What a call passes in the place of the path, the query and the body of a request. */
export interface RouteValues {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

interface PlatformRequest {
  readonly raw?: object;
  readonly headers?: object;
  readonly cookies?: object;
}

/**
 * Makes the request that the route would get: a view of the platform's request, with the values of one call. What
 * middleware and guards write stays on the view.
 * @param real undefined over stdio
 */
export function routeRequest(real: object | undefined, route: RouteInfo, values: RouteValues): object {
  const url = urlOf(route.path, values);
  const { method } = route;
  // Fastify's request reads these from Node's request.
  const { raw, headers: sent, cookies } = (real ?? { cookies: {} }) as PlatformRequest;
  // Calls of a batch share their request.
  const headers = { ...sent };
  const node = raw && viewOf(raw, { method, url, originalUrl: url, body: values.body, headers });
  return viewOf(real ?? {}, {
    method,
    headers,
    ...(cookies && { cookies: { ...cookies } }),
    url,
    originalUrl: url,
    baseUrl: '',
    params: withoutPrototype(values.params),
    query: withoutPrototype(parsesObjects(real) ? values.query : flat(values.query)),
    body: values.body,
    route: { path: route.path, method },
    ...(node && {
      raw: node,
      routeOptions: { method, url: route.path, config: { ...route.config, method, url: route.path } },
    }),
    // The endpoint has read the body. Body parsers of the route see that it is parsed.
    _body: true,
    rawBody: undefined,
  });
}

type Members = Record<PropertyKey, unknown>;

/** A proxy, because an object whose prototype is the request takes ten times as long to make. */
function viewOf(real: object, own: Members): object {
  // A context of the endpoint's request would give request-scoped providers that request.
  own[REQUEST_CONTEXT_ID] = undefined;
  return new Proxy(own, new RequestView(real));
}

class RequestView implements ProxyHandler<Members> {
  constructor(private readonly real: object) {}

  get(own: Members, key: PropertyKey, view: unknown): unknown {
    return Object.hasOwn(own, key) ? own[key] : Reflect.get(this.real, key, view);
  }

  /** Without the setters of the request. */
  set(own: Members, key: PropertyKey, value: unknown): boolean {
    own[key] = value;
    return true;
  }

  has(own: Members, key: PropertyKey): boolean {
    return Object.hasOwn(own, key) || key in this.real;
  }

  getPrototypeOf(): object | null {
    return Reflect.getPrototypeOf(this.real);
  }
}

/** As parsers of URLs do, so that no name means anything else. */
const withoutPrototype = (values: object): object => Object.assign(Object.create(null) as object, values);

/** Whether the application's parser makes objects of `a[b]=1`, as that of Express does with the setting `extended`. */
function parsesObjects(real: object | undefined): boolean {
  const { app } = (real ?? {}) as { readonly app?: { get?(setting: string): unknown } };
  const parse: unknown = app?.get?.('query parser fn');
  if (typeof parse !== 'function') return false;
  const known = PARSERS.get(parse);
  if (known !== undefined) return known;
  const { a } = (parse as (text: string) => { readonly a?: unknown })('a[b]=1');
  PARSERS.set(parse, a !== undefined);
  return a !== undefined;
}

const PARSERS = new WeakMap<object, boolean>();

/** The query as other parsers read it, so that a guard gets no value that a URL cannot hold. */
function flat(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const hasObject = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && (!Array.isArray(value) || value.some(hasObject));
  const names = Object.keys(query);
  if (!names.some(name => hasObject(query[name]))) return query;
  const found: Record<string, unknown> = {};
  for (const name of names) {
    if (!hasObject(query[name])) {
      found[name] = query[name];
      continue;
    }
    const search = new URLSearchParams();
    append(search, name, query[name]);
    for (const key of new Set(search.keys())) {
      const all = search.getAll(key);
      found[key] = all.length > 1 ? all : all[0];
    }
  }
  return found;
}

/** The URL of a call. The values are encoded, so that none of them reaches another part of it. */
function urlOf(path: string, { params, query }: RouteValues): string {
  const filled = path
    .replace(/\{([^{}]*)\}/g, (_, part: string) =>
      namesIn(part).every(name => Object.hasOwn(params, name)) ? part : '',
    )
    .replace(/:([A-Za-z_$][\w$]*)\??/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) append(search, key, value);
  const text = search.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

const namesIn = (part: string): string[] =>
  [...part.matchAll(/:([A-Za-z_$][\w$]*)/g)].map(([, name]) => name);

function append(search: URLSearchParams, key: string, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) append(search, key, item);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) append(search, `${key}[${name}]`, item);
  } else search.append(key, String(value));
}
