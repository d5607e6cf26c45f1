import { z } from 'zod';
import * as mini from 'zod/mini';
import { compileSchema } from './compile-schema.js';

describe('a schema of zod that cannot be used says how to mend it:', () => {
  it('a raw shape', async () => {
    await expect(compileSchema({ a: z.string(), b: z.number() }, 'input')).rejects.toThrow(
      'the schema is an object of zod schemas: wrap it, as in z.object({ a: … })',
    );
    await expect(compileSchema({ a: mini.string() }, 'output')).rejects.toThrow('z.object({ a: … })');
  });

  it('one of zod/mini', async () => {
    await expect(compileSchema(mini.object({ a: mini.string() }) as never, 'input')).rejects.toThrow(
      'the zod schema carries no JSON Schema: make it with "zod" 4.2 or later, not with "zod/mini" or zod 3, ' +
        'or pass JSON Schema instead',
    );
  });
});
