import { jest } from '@jest/globals';
import type { compileSchema as CompileSchema } from './compile-schema.js';

describe.each(['class-validator', 'class-transformer'])('without %s', missing => {
  let compileSchema: typeof CompileSchema;
  beforeAll(() => {
    jest.resetModules();
    jest.doMock(missing, () => {
      throw new Error(`Cannot find module '${missing}'`);
    });
    ({ compileSchema } = jest.requireActual<{ compileSchema: typeof CompileSchema }>('./compile-schema.js'));
  });
  afterAll(() => jest.dontMock(missing));

  it('a class is refused with what to install', async () => {
    await expect(compileSchema(class Dto {}, 'input')).rejects.toThrow(
      `a class as a schema needs class-validator and class-transformer; install them with \`npm install class-validator class-transformer\` (Cannot find module '${missing}')`,
    );
  });

  it('the other kinds of schema work', async () => {
    await expect(compileSchema({ type: 'object' }, 'input')).resolves.toBeDefined();
  });
});
