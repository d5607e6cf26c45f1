import { IsOptional, IsString } from 'class-validator';
import { z } from 'zod';
import { compileSchema } from '../schema/compile-schema.js';
import { argumentAt, headerParamsOf } from './header-params.js';
import { mcpHeader, McpHeader } from '../schema/keywords.js';

class OptionalDto {
  @McpHeader('Region')
  @IsOptional()
  @IsString()
  region?: string | null;
}

const regionOf = (schema: object) => ({ type: 'object', properties: { region: schema } });
const header = { 'x-mcp-header': 'Region' };

describe('a header parameter may be null:', () => {
  it.each<[string, object]>([
    ['in a list of types', regionOf({ type: ['string', 'null'], ...header })],
    ['in a list of types that begins with null', regionOf({ type: ['null', 'string'], ...header })],
    ['in a union', regionOf({ anyOf: [{ type: 'string' }, { type: 'null' }], ...header })],
    [
      'in a union of one',
      regionOf({ oneOf: [{ type: 'string', minLength: 1 }, { type: 'null' }], ...header }),
    ],
    ['in zod', z.object({ region: z.string().nullable().meta(mcpHeader('Region')) })],
    [
      'in zod, where it may be missing, too',
      z.object({ region: z.string().nullish().meta(mcpHeader('Region')) }),
    ],
    ['in a DTO', OptionalDto],
  ])('%s', async (_what, schema) => {
    const { jsonSchema } = await compileSchema(schema as never, 'input');
    const [param, ...others] = headerParamsOf(jsonSchema);
    expect([param, others]).toEqual([{ name: 'Region', path: ['region'], type: 'string' }, []]);
    expect(argumentAt({ region: null }, param)).toBeUndefined();
    expect(argumentAt({ region: 'eu' }, param)).toBe('eu');
  });

  it.each<[string, object, RegExp]>([
    ['of two types', { type: ['string', 'integer'], ...header }, /has the type "\[\\"string/],
    ['of null alone', { type: ['null'], ...header }, /must be a "string"/],
    ['of a number or null', { type: ['number', 'null'], ...header }, /must be a "string"/],
    ['of a union of two', { anyOf: [{ type: 'string' }, { type: 'integer' }], ...header }, /has no "type"/],
    ['under a union', { anyOf: [{ type: 'string', ...header }, { type: 'null' }] }, /it is under "anyOf"/],
  ])('but not one %s', (_what, schema, rule) => {
    expect(() => headerParamsOf(regionOf(schema))).toThrow(rule);
  });
});
