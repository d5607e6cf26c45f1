/* global document, window, axe */
// Opens pages in the three looks, and watches for everything that must not happen on any of them.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  tablet: { colorScheme: 'dark', viewport: { width: 768, height: 1024 } },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
  wide: { colorScheme: 'light', viewport: { width: 1920, height: 1080 } },
};

/** The views by their names in the rail. */
export const VIEWS = {
  handlers: 'Handlers',
  access: 'Access',
  chain: 'Interceptors',
  history: 'History',
  tasks: 'Tasks',
  live: 'Live',
  findings: 'Findings',
};

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
  await page.locator('mcp-handlers:not([aria-busy])').waitFor();
  return { page, faults, close: () => context.close() };
}

/** Shows a view by its link, and waits until it is filled. */
export async function show(page, view) {
  await page.locator('#rail').getByRole('link', { name: VIEWS[view] }).click();
  await page.locator(`mcp-${view}:not([aria-busy])`).waitFor();
}

/** Follows the link of a handler in the list. */
export async function choose(page, name) {
  await show(page, 'handlers');
  await page
    .locator('mcp-handlers .list a')
    .filter({ has: page.getByText(name, { exact: true }) })
    .click();
  await page.locator('.detail h2').filter({ hasText: name }).waitFor();
}

/** Opens the form of a handler. */
export async function chooseCall(page, name) {
  await choose(page, name);
  await page.getByRole('link', { name: 'Call', exact: true }).click();
  await page.locator('mcp-call').waitFor();
}

/** Chooses who calls, and in which revision. */
export async function callAs(page, { token, scopes, roles, revision }) {
  await page.locator('.who').click();
  const dialog = page.getByRole('dialog', { name: 'Caller' });
  if (token !== undefined) {
    await dialog.getByLabel('A token').check();
    await dialog.getByLabel('Bearer token').fill(token);
  }
  if (scopes !== undefined || roles !== undefined) {
    await dialog.getByLabel('Synthetic scopes and roles').check();
    await dialog.getByRole('textbox', { name: 'Scopes' }).fill(scopes ?? '');
    await dialog.getByRole('textbox', { name: 'Roles' }).fill(roles ?? '');
  }
  if (revision !== undefined) await dialog.getByLabel('Protocol revision').selectOption(revision);
  assert.deepEqual(await inspect(page), []);
  await dialog.getByRole('button', { name: 'Use this caller' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.locator('#content > :not([aria-busy])').waitFor();
}

/** Presses the button of the form, and confirms. */
export async function press(page) {
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  const dialog = page.getByRole('dialog');
  const round = page.getByRole('heading', { name: 'Round 1' });
  await dialog.or(round).first().waitFor();
  if (await dialog.isVisible()) await dialog.getByRole('button', { name: 'Call' }).click();
}

export async function call(page) {
  await press(page);
  return answer(page, 1);
}

/** The answer of a round, once it came. */
export async function answer(page, round) {
  const place = page.locator(`.rounds > li:nth-child(${round}):not([aria-busy])`);
  await place.waitFor();
  assert.deepEqual(await inspect(page), []);
  return place;
}

/** The call as curl, test or client configuration. */
export async function copied(page, kind) {
  await page.getByLabel('Copy as').selectOption(kind);
  return page.getByRole('group', { name: `As ${kind}` }).innerText();
}

/** Every view in every look, without a fault. */
export const everyView = (looks = ['light', 'dark', 'narrow']) =>
  looks.map(look => ({
    name: `shows every view, ${look}`,
    look,
    async check({ page, picture }) {
      for (const view of Object.keys(VIEWS)) {
        await show(page, view);
        assert.deepEqual(await inspect(page), [], view);
        await picture(`${view}-${look}`);
      }
    },
  }));

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
