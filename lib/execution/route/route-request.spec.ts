import * as fc from 'fast-check';
import { routeRequest } from './route-request.js';

interface View {
  url: string;
  method: string;
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: unknown;
  user?: string;
  headers: Record<string, string>;
  raw?: View;
}

const ROUTE = { method: 'POST', path: '/shops/:shop/orders/:id/cancel' };
/** Parsers of URLs take `.` and `..` as steps between folders, so that no path can hold them. */
const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter(value => !/^\.{1,2}$/.test(value));

describe('the request of a route', () => {
  it('has a URL from which every parser reads the same values', () => {
    fc.assert(
      fc.property(text, text, text, (shop, id, search) => {
        const view = routeRequest(undefined, ROUTE, {
          params: { shop, id },
          query: { search },
          body: {},
        }) as View;
        const { pathname, searchParams } = new URL(view.url, 'http://localhost');
        const segments = pathname.split('/').map(decodeURIComponent);
        expect(segments).toEqual(['', 'shops', shop, 'orders', id, 'cancel']);
        expect([...searchParams]).toEqual([['search', search]]);
      }),
      {
        examples: [
          ['...', '.a', 'a&b=c'],
          ['%2f', '/', '#?'],
          ['\r\nx: y', '"\'', '%0d%0a'],
        ],
      },
    );
  });

  it('keeps what one call writes from the real request and from other calls', () => {
    const real = { headers: { 'x-key': 'k' }, url: '/mcp', method: 'POST', raw: { url: '/mcp' } };
    const [one, other] = ['1', '2'].map(
      id => routeRequest(real, ROUTE, { params: { shop: 's', id }, query: {}, body: { id } }) as View,
    );
    one.user = 'ada';
    one.raw!.user = 'ada';
    expect([one.params['id'], other.params['id']]).toEqual(['1', '2']);
    expect([other.user, other.raw!.user, (real as unknown as View).user]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(real).toEqual({ headers: { 'x-key': 'k' }, url: '/mcp', method: 'POST', raw: { url: '/mcp' } });
    expect([one.headers['x-key'], one.url, one.raw!.url]).toEqual([
      'k',
      '/shops/s/orders/1/cancel',
      '/shops/s/orders/1/cancel',
    ]);
  });

  it('takes no name for more than a name', () => {
    const params = JSON.parse('{"shop":"s","id":"i","__proto__":"p"}') as Record<string, string>;
    const query = JSON.parse('{"__proto__":{"isAdmin":"true"},"constructor":"c"}') as Record<string, unknown>;
    const view = routeRequest(undefined, ROUTE, { params, query, body: query }) as View;
    expect((view.query as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    expect(view.params['toString']).toBeUndefined();
  });

  it('leaves out optional parts of the path', () => {
    const route = { method: 'GET', path: '/orders/:id{/items/:item}' };
    const urlOf = (params: Record<string, string>) =>
      (routeRequest(undefined, route, { params, query: {}, body: undefined }) as View).url;
    expect(urlOf({ id: '1' })).toBe('/orders/1');
    expect(urlOf({ id: '1', item: '2' })).toBe('/orders/1/items/2');
  });
});
