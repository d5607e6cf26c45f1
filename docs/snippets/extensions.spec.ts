import { z } from 'zod';
import { Products } from '../../sample/60-extension/products.js';
import { SearchExtension } from '../../sample/60-extension/search.extension.js';
import { startApp } from '../../test/fixtures/matrix.js';

it('a client calls a method of an extension', async () => {
  const app = await startApp([Products, SearchExtension]);
  const client = await app.client();
  // #region call
  const { hits } = await client.request(
    { method: 'example/search', params: { query: 'lamp' } },
    z.looseObject({ hits: z.array(z.string()) }),
  );
  // #endregion call
  expect(hits).toEqual(['desk lamp', 'floor lamp']);
  await app.close();
});
