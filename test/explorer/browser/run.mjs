// Drives every view of the explorer in Chromium, over samples: `npm run explorer:browse [-- sample ...]`. The pictures are in
// docs/.vitepress/screenshots; `--write-docs` also writes those of the documentation.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { startExchange, startFastify, startHostile, startLarge, startSample } from './apps.mjs';
import { CHECKS, runCheck } from './checks.mjs';

const docs = join(import.meta.dirname, '../../../docs');
const args = process.argv.slice(2);
const named = args.filter(arg => !arg.startsWith('--'));
const names = Object.keys(CHECKS).filter(name => named.length === 0 || named.includes(name));

const OWN = { hostile: startHostile, large: startLarge, fastify: startFastify, exchange: startExchange };

/** Every request of the sample needs a caller, the explorer's too: its guard is global. */
const HEADERS = { '03-guards': { authorization: 'Bearer token-of-alice' } };

const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
  path => path && existsSync(path),
);
if (!executablePath) {
  const skipped = names.reduce((sum, name) => sum + CHECKS[name].length, 0);
  console.log(`Chromium is not installed: ${skipped} checks skipped. CHROMIUM names its path.`);
  process.exit(0);
}

const { chromium } = await import('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
let passed = 0;
let failed = 0;

/** A picture of the documentation is of a smaller window, light and dark, once the message below is gone. */
const pictureOf = name => async (page, view, isForDocs) => {
  if (isForDocs) {
    const { width } = page.viewportSize();
    await page.setViewportSize({ width: Math.min(width, 1000), height: 640 });
    await page.locator('#status.hidden').waitFor({ state: 'attached' });
  }
  const folder = isForDocs && args.includes('--write-docs') ? 'public' : '.vitepress/screenshots';
  const file = isForDocs ? `explorer-${view}` : `explorer-${name}-${view}`;
  await page.screenshot({ path: join(docs, folder, `${file}.png`) });
  // The frame of a view keeps the theme with which it was opened.
  if (!isForDocs || view === 'view') return;
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: join(docs, folder, `${file}-dark.png`) });
  await page.emulateMedia({ colorScheme: 'light' });
};

for (const name of names) {
  console.log(name);
  const app = await (OWN[name]?.() ?? startSample(name));
  for (const check of CHECKS[name]) {
    try {
      await runCheck(browser, app, check, { headers: HEADERS[name], picture: pictureOf(name) });
      passed += 1;
      console.log(`  ok  ${check.name}`);
    } catch (error) {
      failed += 1;
      console.log(`  FAILED  ${check.name}`);
      console.error(error);
    }
  }
  await app.close();
}
await browser.close();

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
