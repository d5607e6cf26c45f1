import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startServer } from '../conformance/support/start-server.mjs';

// It would report its runs to its makers.
process.env.MCPJAM_TELEMETRY_DISABLED = '1';

const judge = createRequire(join(import.meta.dirname, 'mcpjam/package.json')).resolve('@mcpjam/sdk');
const { MCPAppsConformanceTest } = await import(pathToFileURL(judge));

const CHECKS = [
  'ui-tools-present',
  'ui-tool-metadata-valid',
  'ui-tool-input-schema-valid',
  'ui-listed-resources-valid',
  'ui-resources-readable',
  'ui-resource-contents-valid',
  'ui-resource-meta-valid',
];

for (const adapter of ['express', 'fastify']) {
  for (const revision of ['2025-11-25', '2026-07-28']) {
    describe(`The checks of MCPJam for apps on ${adapter}, ${revision}`, () => {
      let server;
      let result;
      before(async () => {
        server = await startServer({ ADAPTER: adapter });
        const config = { url: server.url, mcpProtocolVersion: revision, timeout: 20_000 };
        result = await new MCPAppsConformanceTest(config).run();
      });
      after(() => server?.close());

      it('find the tools, and the view', () => {
        const { uiToolCount, checkedUiResourceCount } = result.discovery;
        assert.deepEqual([uiToolCount, checkedUiResourceCount], [2, 1]);
      });

      it('are those that are named here', () => {
        assert.deepEqual(result.checks.map(({ id }) => id).sort(), [...CHECKS].sort());
      });

      for (const id of CHECKS) {
        it(id, () => {
          const { status, error } = result.checks.find(check => check.id === id);
          assert.equal(status, 'passed', error?.message);
        });
      }
    });
  }
}
