import { Injectable } from '@nestjs/common';
import { Args, Tool, Visible } from 'nestjs-mcp';
import { toolSurface } from 'nestjs-mcp/testing';
import { z } from 'zod';
import { startApp, type TestApp } from '../fixtures/matrix.js';

class OwnerGuard {
  canActivate(context: {
    switchToHttp(): { getRequest(): { headers: Record<string, string | undefined> } };
  }) {
    return context.switchToHttp().getRequest().headers['x-owner'] === 'yes';
  }
}

@Injectable()
class Shop {
  @Tool({
    description: 'Finds products',
    annotations: { readOnlyHint: true },
    inputSchema: z.object({ text: z.string(), limit: z.number().optional() }),
  })
  search(@Args() args: object) {
    return args;
  }

  @Visible(OwnerGuard)
  @Tool({ title: 'Prices', description: 'Sets the price of a product' })
  price(@Args('product') product: string) {
    return product;
  }
}

describe('toolSurface', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp([Shop]);
  });
  afterAll(() => app.close());

  it.each(['modern', 'legacy'] as const)(
    'shows what a caller of the %s era sees, and its cost',
    async era => {
      const guest = await toolSurface(app.app, { era });
      expect(guest.tools.map(({ name }) => name)).toEqual(['search']);
      expect(guest.text).toMatch(
        /^search\n {2}description: "Finds products"\n {2}annotations: \{"readOnlyHint":true\}\n/,
      );
      expect(guest.text).toContain('"limit":{"type":"number"},"text":{"type":"string"}');

      const owner = await toolSurface(app.app, { era, headers: { 'x-owner': 'yes' } });
      expect(owner.text).toBe(`${owner.text.slice(0, owner.text.indexOf('search\n'))}${guest.text}`);
      const [search] = guest.tools;
      expect(owner.tools).toContainEqual(search);
      expect(owner.characters).toBe(owner.tools.reduce((sum, { characters }) => sum + characters, 0));
      expect(search.characters).toBeGreaterThan(100);
      expect(search.tokens).toBe(Math.ceil(search.characters / 4));
    },
  );
});
