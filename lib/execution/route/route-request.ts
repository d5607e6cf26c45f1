import { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants.js';

/** The HTTP method and the path of a route, such as `POST` and `/orders/:id/cancel`. */
export interface RouteInfo {
  readonly method: string;
  readonly path: string;
}

/** What a call passes in the place of the path, the query and the body of a request. */
export interface RouteValues {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

interface PlatformRequest {
  readonly raw?: object;
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
  const { raw } = (real ?? {}) as PlatformRequest;
  const node = raw && viewOf(raw, { method, url, originalUrl: url, body: values.body });
  return viewOf(real ?? { headers: {}, cookies: {} }, {
    method,
    url,
    originalUrl: url,
    baseUrl: '',
    params: withoutPrototype(values.params),
    query: withoutPrototype(values.query),
    body: values.body,
    route: { path: route.path, method },
    ...(node && { raw: node }),
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
