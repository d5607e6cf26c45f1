// Drives every view of the explorer in Chromium, over samples: `npm run explorer:browse [-- sample ...]`. The pictures are in
// docs/.vitepress/screenshots; `--write-docs` also writes those of the documentation.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { startHostile, startSample } from './apps.mjs';
import { CHECKS, runCheck } from './checks.mjs';

const docs = join(import.meta.dirname, '../../../docs');
const args = process.argv.slice(2);
const named = args.filter(arg => !arg.startsWith('--'));
const names = Object.keys(CHECKS).filter(name => named.length === 0 || named.includes(name));

/** Pictures of the documentation: a view and look of the sample that is made for them. */
const IN_DOCS = ['catalogue-light', 'chain-dark', 'call-narrow'];

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

async function picture(page, name, look) {
  const file = `${name}-${look}.png`;
  await page.screenshot({ path: join(docs, '.vitepress/screenshots', `explorer-${file}`) });
}

for (const name of names) {
  console.log(name);
  const app = name === 'hostile' ? await startHostile() : await startSample(name);
  for (const check of CHECKS[name]) {
    const take = async (page, shown) => {
      await picture(page, name, shown);
      if (name === '51-explorer' && args.includes('--write-docs') && IN_DOCS.includes(shown)) {
        await page.screenshot({ path: join(docs, 'public', `explorer-${shown}.png`) });
      }
    };
    try {
      await runCheck(browser, app, check, { headers: HEADERS[name], picture: take });
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
