import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { isJSONRPCRequest, PerRequestHTTPServerTransport, Server } from '@modelcontextprotocol/server';
import { isPlainCall, isPlainResult, isRequest, isSameJson } from './plain-messages.js';

class CodecServer extends Server {
  codec() {
    return this._wireCodec();
  }
}

const REVISION = '2026-07-28';
const modern = new CodecServer({ name: '', version: '' }, { supportedProtocolVersions: [REVISION] });
void modern.connect(
  new PerRequestHTTPServerTransport({ classification: { era: 'modern', revision: REVISION } }),
);
const CODECS = { legacy: new CodecServer({ name: '', version: '' }).codec(), modern: modern.codec() };

/** JSON writes other fields of it than a schema reads. */
class Text {
  private readonly value = 'hello';
  get type() {
    return 'text';
  }
  get text() {
    return this.value;
  }
}

const text = { content: [{ type: 'text', text: 'hello' }] };
const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
/** As it comes from the wire: `JSON.stringify` writes -0 as 0. */
const json = fc.jsonValue().map(parsed);

/** A value with fields that a schema knows, and sometimes others: each is often valid, and often not. */
const near = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(
      fc.record(
        Object.fromEntries(
          Object.entries(fields).map(([name, valid]) => [
            name,
            fc.oneof({ arbitrary: valid, weight: 8 }, json),
          ]),
        ),
        { requiredKeys: [] },
      ),
      fc.oneof({ arbitrary: fc.constant({}), weight: 3 }, fc.dictionary(fc.string(), json, { maxKeys: 2 })),
    )
    .map(([known, more]) => JSON.parse(JSON.stringify({ ...more, ...known })) as Record<string, unknown>);

const meta = near({ progressToken: fc.constantFrom('a', 1, 1.5), other: json });
const params = near({
  name: fc.string(),
  arguments: fc.dictionary(fc.constantFrom('a', '__proto__', 'constructor'), json),
  _meta: meta,
  task: fc.constant({ ttl: 1 }),
});
const request = near({
  jsonrpc: fc.constant('2.0'),
  id: fc.constantFrom<unknown>('a', '', 1, 1.5, -0, 2 ** 60),
  method: fc.constantFrom('tools/call', ''),
  params,
});
const block = near({ type: fc.constantFrom('text', 'image'), text: fc.string() });
const result = near({
  content: fc.array(block, { maxLength: 2 }),
  structuredContent: fc.dictionary(fc.string(), json),
  isError: fc.boolean(),
});

it('recognizes the same requests as the SDK', () => {
  fc.assert(
    fc.property(request, value => {
      expect(isRequest(value)).toBe(isJSONRPCRequest(value));
    }),
    { numRuns: 2000 },
  );
});

describe.each(['legacy', 'modern'] as const)('in the %s era', era => {
  it('accepts no call that the SDK refuses', () => {
    expect(isPlainCall({ name: 'echo', arguments: {} })).toBe(true);
    fc.assert(
      fc.property(params, own => {
        const method = 'tools/call';
        const isValid = CODECS[era].validateRequest(method, { method, params: own }).ok;
        expect(isValid || !isPlainCall(own)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it.each<[string, object]>([
    ['whose block is an instance of a class', { content: [new Text()] }],
    ['whose structured content is a Date', { ...text, structuredContent: new Date(0) }],
    ['whose structured content is a Map', { ...text, structuredContent: new Map() }],
    ['with a hole in its list', { content: new Array(1) }],
    ['that is an instance of a class', Object.assign(Object.create({ toJSON: () => 'x' }) as object, text)],
  ])('leaves a result to the SDK %s', (_what, own) => {
    expect(isPlainResult(own)).toBe(false);
  });

  it('accepts no result that the SDK refuses or changes', () => {
    expect(isPlainResult(text)).toBe(true);
    expect(isPlainResult({ ...text, structuredContent: {} })).toBe(true);
    fc.assert(
      fc.property(result, own => {
        if (isPlainResult(own))
          expect(CODECS[era].validateResult('tools/call', own)).toEqual({ ok: true, value: own });
      }),
      { numRuns: 2000 },
    );
  });
});

const small = fc.oneof(
  json,
  fc.constantFrom<unknown>({}, [], null, 0, '', { a: [] }, { a: {} }, { b: [] }, [null]),
);

it('compares JSON as Node does', () => {
  fc.assert(
    fc.property(small, small, (one, other) => {
      expect(isSameJson(one, other)).toBe(isDeepStrictEqual(one, other));
      expect(isSameJson(one, parsed(one))).toBe(true);
      expect(isSameJson([one, other], [other, one])).toBe(isDeepStrictEqual(one, other));
    }),
    { numRuns: 1000 },
  );
});
