import { type } from 'arktype';
import { compileSchema } from './compile-schema.js';

describe('a schema of arktype', () => {
  it('is no class, though it is a function', async () => {
    const Page = type({ page: 'number.integer', 'tone?': '"dry" | "warm"' });
    expect(typeof Page).toBe('function');
    const { jsonSchema, validate } = await compileSchema(Page, 'input');
    expect(jsonSchema).toEqual({
      type: 'object',
      properties: { page: { type: 'integer' }, tone: { enum: ['dry', 'warm'] } },
      required: ['page'],
    });
    expect(await validate({ page: 1 })).toEqual({ ok: true, value: { page: 1 } });
  });

  it('names the path of an issue', async () => {
    const Order = type({ lines: type({ qty: 'number' }).array() });
    const { validate } = await compileSchema(Order, 'input');
    expect(await validate({ lines: [{ qty: 1 }, { qty: 'x' }] })).toEqual({
      ok: false,
      issues: [{ path: 'lines[1].qty', message: 'lines[1].qty must be a number (was a string)' }],
    });
  });

  it('may be a union of objects', async () => {
    const { jsonSchema } = await compileSchema(type({ a: 'string' }).or({ b: 'string' }), 'input');
    expect(jsonSchema).toMatchObject({ type: 'object', anyOf: [{}, {}] });
  });

  it('may be a list, as output', async () => {
    await expect(compileSchema(type('string[]'), 'input')).rejects.toThrow('must describe an object');
    await expect(compileSchema(type('string[]'), 'output')).resolves.toBeDefined();
  });
});
