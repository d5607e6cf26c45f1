import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';
import { App } from 'nestjs-mcp/apps';
import { z } from 'zod';

const REGIONS = ['Europe', 'Asia', 'America'] as const;
const Request = z.object({ region: z.enum(REGIONS).default('Europe') });
const Sales = z.object({
  region: z.string(),
  regions: z.array(z.string()),
  quarters: z.array(z.object({ name: z.string(), amount: z.number() })),
});

/** `npm run build:sample` bundles the view into this one file, beside the compiled class. */
@App({ uri: 'ui://sales/chart', file: join(__dirname, 'view/index.html') })
@Injectable()
export class SalesChart {
  /** The model and the view call it: the view for other regions. */
  @Tool({
    description: 'Shows the sales of a region in each quarter',
    annotations: { readOnlyHint: true },
    inputSchema: Request,
    outputSchema: Sales,
    ui: 'ui://sales/chart',
  })
  sales(@Args() { region }: z.infer<typeof Request>) {
    const start = 10 * (1 + REGIONS.indexOf(region));
    const quarters = ['Q1', 'Q2', 'Q3', 'Q4'].map((name, index) => ({ name, amount: start + 5 * index }));
    const text = `${region}: ${quarters.map(({ name, amount }) => `${name} ${amount}`).join(', ')}`;
    return {
      content: [{ type: 'text', text }],
      structuredContent: { region, regions: [...REGIONS], quarters },
    };
  }
}
