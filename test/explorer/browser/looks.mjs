/* global document, window, axe */
// Opens pages in the three looks, and watches for everything that must not happen on any of them.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  narrow: { colorScheme: 'light', viewport: { width: 375, height: 812 } },
};

export const VIEWS = ['catalogue', 'chain', 'callers', 'call', 'tasks', 'live', 'findings'];

/** Opens the explorer. `faults` collects errors, and requests that leave the origin. */
export async function open(browser, app, look = 'light', headers = {}) {
  const context = await browser.newContext({ ...LOOKS[look], extraHTTPHeaders: headers });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const faults = [];
  page.on('pageerror', error => faults.push(error.message));
  page.on('dialog', dialog => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', message => message.type() === 'error' && faults.push(message.text()));
  context.on('request', request => {
    const url = request.url();
    if (!url.startsWith(`${app.origin}/`) && !url.startsWith('data:')) faults.push(`left the origin: ${url}`);
  });
  await page.goto(app.page);
  await page.getByRole('tab', { name: 'Catalogue' }).waitFor();
  return { page, faults, close: () => context.close() };
}

/** Shows a view by its tab, and waits until it is filled. */
export async function show(page, view) {
  await page.locator(`#tab-${view}`).click();
  await page.locator(`mcp-${view}:not([aria-busy]) h2`).waitFor();
}

/** What axe finds, and whether the page is wider than its window or a script of a text ran. */
export async function inspect(page) {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations, passes } = await axe.run();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    if (passes.length === 0) found.push('axe looked at nothing');
    const overflow = document.documentElement.scrollWidth - window.innerWidth;
    if (overflow > 0) found.push(`the page is ${overflow} px wider than the window`);
    if (document.title.includes('taken')) found.push('a script in a text ran');
    return found;
  });
}
