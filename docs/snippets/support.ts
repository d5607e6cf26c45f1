// For the tests of the snippets: not shown in pages.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { McpModule, type McpModuleOptions } from 'nestjs-mcp';
import { createTestClient, type TestClientOptions } from 'nestjs-mcp/testing';

/** Starts a shop with these providers, and connects the official client. */
export async function startShop(
  { imports = [], providers }: ModuleMetadata,
  options: TestClientOptions = {},
  server: Partial<McpModuleOptions> = {},
) {
  const testing = Test.createTestingModule({
    imports: [
      McpModule.forRoot({ name: 'shop', version: '1.0.0', ...server }),
      ...imports,
    ],
    providers,
  });
  const app = (await testing.compile()).createNestApplication();
  const client = await createTestClient(app, options);
  return {
    client,
    async close() {
      await client.close();
      await app.close();
    },
  };
}

/** Compares an output with the one that a page shows; with `UPDATE_DOCS`, writes it. */
export function checkOutput(name: string, output: unknown) {
  const file = join(__dirname, 'outputs', name);
  const text =
    typeof output === 'string' ? output : JSON.stringify(output, undefined, 2);
  if (process.env.UPDATE_DOCS) writeFileSync(file, `${text}\n`);
  expect(readFileSync(file, 'utf8')).toBe(`${text}\n`);
}
