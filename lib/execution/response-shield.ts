/** Methods that answer the HTTP request, on Node, Express and Fastify. */
const ANSWERS = new Set<PropertyKey>([
  'end',
  'write',
  'writeHead',
  'flushHeaders',
  'send',
  'json',
  'jsonp',
  'sendStatus',
  'sendFile',
  'download',
  'redirect',
  'render',
  'hijack',
  'serialize',
  'format',
  'callNotFound',
  'destroy',
  // These methods set parts of the answer.
  'status',
  'code',
  'type',
  'contentType',
]);

const OWN_FIELDS = new Set<PropertyKey>(['statusCode', 'statusMessage']);
const OWN_HEADER = /^content-(?:type|length)$/i;

/**
 * Wraps the platform's response for guards, interceptors and filters. They can read and set headers, but only the
 * transport answers. A global filter for REST can then neither break the JSON-RPC response nor swallow the error. Late
 * headers are dropped.
 */
export function shieldResponse(response: object | undefined): object | undefined {
  if (response === undefined) return undefined;
  const shield: object = new Proxy(response, {
    get(target, property) {
      if (ANSWERS.has(property)) return () => shield;
      const value: unknown = Reflect.get(target, property, target);
      if (property === 'raw') return shieldResponse(value as object | undefined);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        // The transport owns these headers: they read as missing, and writes are ignored.
        if (typeof args[0] === 'string' && OWN_HEADER.test(args[0]))
          return args.length > 1 ? shield : undefined;
        try {
          const result: unknown = Reflect.apply(value, target, args);
          return result === target ? shield : result;
        } catch (error) {
          if (hasBegun(target)) return shield;
          throw error;
        }
      };
    },
    set: (target, property, value) =>
      OWN_FIELDS.has(property) || Reflect.set(target, property, value, target),
  });
  return shield;
}

/** Fastify keeps Node's response in `raw`. */
function hasBegun(response: { raw?: object; headersSent?: boolean }): boolean {
  return response.raw ? hasBegun(response.raw) : response.headersSent === true;
}
