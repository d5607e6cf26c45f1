/* global AbortController, document, fetch, localStorage, performance */
// The checks of the application with 302 tools and 20 interceptors.
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  answer,
  call,
  callAs,
  choose,
  chooseCall,
  copied,
  everyView,
  inspect,
  press,
  show,
  VIEWS,
} from './looks.mjs';

const folder = join(import.meta.dirname, '../../../dist/cjs/explorer/page');
const MAX_BYTES = 120_000;
const MAX_VIEW_MS = 500;

const textOf = locator => locator.innerText();
const focused = page => page.evaluate(() => document.activeElement.textContent);
const isInSight = locator =>
  locator.evaluate(element => {
    const [own, list] = [element, element.closest('.list')].map(one => one.getBoundingClientRect());
    return own.top >= list.top && own.bottom <= list.bottom;
  });

export const LARGE = [
  ...everyView(['light', 'dark', 'tablet', 'narrow', 'wide']),
  {
    name: 'has at most 120 kB without the preview of apps',
    check() {
      const own = readdirSync(folder).filter(name => name !== 'app-bridge.js');
      const bytes = own.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
      console.log(`      ${bytes} bytes`);
      assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
    },
  },
  {
    name: 'shows each view within half a second',
    async check({ page }) {
      const now = () => page.evaluate(() => performance.now());
      await page.reload();
      await page.locator('mcp-handlers:not([aria-busy]) .list a').first().waitFor();
      const times = { 'page with its handlers': await now() };
      for (const view of Object.keys(VIEWS).slice(1)) {
        await show(page, 'handlers');
        const started = await now();
        await show(page, view);
        times[view] = (await now()) - started;
      }
      for (const [view, ms] of Object.entries(times)) {
        console.log(`      ${view} ${Math.round(ms)} ms`);
        assert.ok(ms < MAX_VIEW_MS, `${view}: ${ms} ms`);
      }
    },
  },
  {
    name: 'is used by keyboard: list, filter and palette',
    async check({ page }) {
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'skip');
      await page.keyboard.press('Enter');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'content');
      await page.getByLabel('Filter').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      assert.equal(await focused(page), 'archiveCustomer');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'archiveCustomer' }).waitFor();
      await page.locator('.list a').first().focus();
      await page.keyboard.type('shelves for');
      assert.deepEqual(await page.locator('.list a').allInnerTexts(), ['search']);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'search' }).waitFor();
      await page.keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: 'Go to' });
      await palette.getByText('deleteWebhook').or(palette.getByText('Findings')).first().waitFor();
      assert.deepEqual(await inspect(page), []);
      await page.keyboard.type('deletewebhook');
      await palette.getByRole('option', { name: /^deleteWebhook/ }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'deleteWebhook' }).waitFor();
      assert.ok(await isInSight(page.locator('.list [aria-current]')));
    },
  },
  {
    name: 'keeps a handler, its tab and its arguments in the link',
    async check({ page, app }) {
      await chooseCall(page, 'search');
      await page.getByLabel('query').fill('a lamp');
      await call(page);
      const link = page.url();
      assert.match(link, /#\/tools\/search\/call\?args=%7B%22query%22%3A%22a\+lamp%22%7D$/);
      await page.goto(`${app.page}/index.html#/findings`);
      await page.goto(link);
      await page.reload();
      assert.equal(await page.getByLabel('query').inputValue(), 'a lamp');
      assert.ok(await isInSight(page.locator('.list [aria-current]')));
      await page.getByLabel('Server', { exact: true }).selectOption('status');
      assert.match(page.url(), /server=status/);
      await page.reload();
      assert.equal(await page.getByLabel('Server', { exact: true }).inputValue(), 'status');
    },
  },
  {
    name: 'draws the way of a handler, and only what runs there',
    async check({ page, picture }) {
      await choose(page, 'search');
      const way = page.getByRole('region', { name: 'Way of a call' });
      await way.getByText('DeskTools.search()').waitFor();
      const text = await textOf(way);
      assert.match(
        text,
        /Validators\s+requireTenant[^]*shortQueries\s+audit[^]*Mutators\s+trimText[^]*Final validators\s+noSecrets[^]*Global guards\s+TokenGuard[^]*Guards\s+TenantGuard[^]*Pipes\s+TrimmingPipe[^]*Method\s+DeskTools\.search\(\)[^]*hideCards/,
      );
      assert.match(text, /plainIds\s+audit · override/);
      assert.match(text, /Sinks, without waiting\s+auditTrail/);
      assert.doesNotMatch(text, /noScripts|addFooter|Nest interceptors/);
      assert.deepEqual(await inspect(page), []);
      await picture('way', true);
    },
  },
  {
    name: 'says what could not be loaded, and loads it again',
    expected: /Failed to load resource|ERR_FAILED/,
    async check({ page }) {
      await page.route('**/api/chain', route => route.abort());
      await choose(page, 'search');
      await page.getByText('The application does not answer').waitFor();
      assert.deepEqual(await inspect(page), []);
      await page.unroute('**/api/chain');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('DeskTools.search()').waitFor();
      await page.route('**/api/findings', route => route.abort());
      await show(page, 'findings');
      await page.getByText('The application does not answer').waitFor();
      await page.getByRole('heading', { name: 'Findings', level: 2 }).waitFor();
      assert.deepEqual(await inspect(page), []);
    },
  },
  {
    name: 'leads from a call over its trace to an interceptor and its chain',
    async check({ page }) {
      await chooseCall(page, 'search');
      await page.getByLabel('query').fill(' A rather LONG lamp ');
      const round = await call(page);
      assert.match(await textOf(round), /mutated\s+trimText/);
      assert.match(await textOf(round), /Sinks[^]*recorded\s+auditTrail/);
      await round.getByRole('link', { name: 'shortQueries' }).click();
      await page.getByText(/would have refused [1-9]/).waitFor();
      const order = page.getByRole('list', { name: 'tools/call · request' });
      assert.equal(await textOf(order.locator('.own')), 'shortQueries');
      await order.getByRole('link', { name: 'trimText' }).click();
      await page.getByRole('heading', { name: 'trimText' }).waitFor();
      assert.deepEqual(await inspect(page), []);
    },
  },
  {
    name: 'shows progress and log messages while a call runs',
    async check({ page, app }) {
      await chooseCall(page, 'slow');
      await press(page);
      await page.locator('.running').getByText('Half').waitFor();
      assert.equal(await page.locator('.running progress').getAttribute('value'), '0.5');
      assert.deepEqual(await inspect(page), []);
      app.goOn();
      assert.match(await textOf(await answer(page, 1)), /Done/);
    },
  },
  {
    name: 'shows pictures, sounds, links, rows and failures',
    async check({ page }) {
      await chooseCall(page, 'media');
      const media = await call(page);
      assert.equal(await media.locator('img').evaluate(({ naturalWidth }) => naturalWidth), 1);
      assert.equal(await media.locator('audio').count(), 1);
      await media.getByText('The terms').first().waitFor();
      await media.getByRole('link', { name: 'hours', exact: true }).click();
      assert.match(await textOf(await call(page)), /9 to 5/);
      await chooseCall(page, 'search');
      await page.getByLabel('query').fill('cup');
      const rows = (await call(page)).getByRole('table', { name: 'rows' });
      assert.match(await textOf(rows.getByRole('row').nth(2)), /2\s+cup 2\s+25\s+true/);
      assert.match(await textOf(page.locator('.tree').first()), /total 2 fields/);
      await chooseCall(page, 'fail');
      assert.match(await textOf((await call(page)).locator('.alert')), /isError/);
      await chooseCall(page, 'crash');
      assert.match(await textOf((await call(page)).locator('.failed')), /Internal error/);
    },
  },
  {
    name: 'answers an elicitation in both revisions',
    async check({ page }) {
      await chooseCall(page, 'shirt');
      const first = await call(page);
      await first.getByLabel('size').selectOption('M');
      await first.getByRole('button', { name: 'Answer' }).click();
      assert.match(await textOf(await answer(page, 2)), /A shirt of size M/);
      await callAs(page, { revision: '2025-11-25' });
      assert.match(page.url(), /revision=2025-11-25/);
      await press(page);
      const running = page.locator('.rounds > li').first();
      await running.getByLabel('size').selectOption('L');
      assert.deepEqual(await inspect(page), []);
      await running.getByRole('button', { name: 'Answer' }).click();
      assert.match(await textOf(await answer(page, 1)), /A shirt of size L/);
    },
  },
  {
    name: 'keeps the calls of this browser, runs them again and compares two',
    async check({ page }) {
      await chooseCall(page, 'search');
      for (const query of ['cup', 'plate']) {
        await page.getByLabel('query').fill(query);
        await call(page);
      }
      await page.getByRole('button', { name: 'Edit' }).nth(1).click();
      assert.equal(await page.getByLabel('query').inputValue(), 'cup');
      await show(page, 'history');
      const boxes = page.getByRole('checkbox', { name: /Compare/ });
      for (const box of await boxes.all()) await box.check();
      await page.getByRole('link', { name: 'Compare the two' }).click();
      const changes = page.getByRole('group', { name: 'Difference of the params' });
      assert.match(await textOf(changes), /-\s+"query": "cup"[^]*\+\s+"query": "plate"/);
      assert.deepEqual(await inspect(page), []);
      await show(page, 'history');
      await page.getByRole('button', { name: 'Forget all calls' }).click();
      await page.getByText('No calls yet').waitFor();
      assert.equal(await page.evaluate(() => localStorage.getItem('mcp-explorer-history')), null);
    },
  },
  {
    name: 'copies a call as the configuration of a client, and leaves an empty text out',
    async check({ page, app }) {
      await chooseCall(page, 'search');
      assert.match(await copied(page, 'curl'), /"arguments":\{\}/);
      const text = await copied(page, 'client configuration');
      assert.deepEqual(JSON.parse(text), {
        mcpServers: { shop: { type: 'http', url: `${app.origin}/mcp` } },
      });
    },
  },
  {
    name: 'filters live calls, hides its own, and keeps the table while the server is lost',
    expected: /Failed to load resource|ERR_FAILED/,
    async check({ page, app }) {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const ask = (name, token) => {
        const _meta = {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'check', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        };
        return fetch(`${app.origin}/mcp`, {
          method: 'POST',
          headers: {
            ...headers,
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': 'tools/call',
            'mcp-name': name,
            ...(token && { authorization: `Bearer ${token}` }),
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name, arguments: {}, _meta },
          }),
        });
      };
      await ask('note', 'ada');
      await ask('crash');
      await show(page, 'live');
      const table = page.getByRole('table', { name: 'Latest calls' });
      await table.getByText('ada').waitFor();
      assert.equal(await table.getByText('this page').count(), 0);
      await page.getByLabel('Caller').selectOption('ada');
      await table.getByText('crash').waitFor({ state: 'detached' });
      await page
        .getByRole('img', { name: /2 calls and 1 error|calls and \d+ errors? in the last/ })
        .waitFor();
      await page.getByLabel('Caller').selectOption('');
      await page.getByLabel('Hide calls of this page').uncheck();
      await table.getByText('this page').first().waitFor();
      const time = await table.locator('time').first();
      const [shown, at] = [await textOf(time), await time.getAttribute('datetime')];
      assert.equal(
        shown.slice(-8),
        await page.evaluate(text => new Date(text).toLocaleTimeString('en-GB'), at),
      );
      assert.deepEqual(await inspect(page), []);
      await page.route('**/api/live', route => route.abort());
      await page.getByText(/Not updated since \d\d:\d\d:\d\d: The application does not answer/).waitFor();
      await table.getByText('ada').waitFor();
      await page.unroute('**/api/live');
      await page.getByText(/Not updated since/).waitFor({ state: 'hidden' });
      await table.getByRole('link', { name: 'note' }).click();
      await page.getByRole('heading', { name: 'note' }).waitFor();
    },
  },
  {
    name: 'lists sessions and streams with their callers, and links to each list',
    async check({ page, app }) {
      const shared = { accept: 'application/json, text/event-stream', authorization: 'Bearer grace' };
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'check', version: '1' },
      };
      const begun = await fetch(`${app.origin}/mcp`, {
        method: 'POST',
        headers: { ...shared, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
      });
      await begun.text();
      const id = begun.headers.get('mcp-session-id');
      const session = { ...shared, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
      const leaving = new AbortController();
      await fetch(`${app.origin}/mcp`, { headers: session, signal: leaving.signal });
      await show(page, 'live');
      const tabs = page.getByRole('navigation', { name: 'Live' });
      for (const list of ['Streams', 'Sessions']) {
        await tabs.getByRole('link', { name: new RegExp(`${list} [1-9]`) }).click();
        const row = page
          .getByRole('table', { name: `Open ${list.toLowerCase()}` })
          .getByRole('row')
          .nth(1);
        assert.match(
          await textOf(row),
          new RegExp(`grace\\s+${id.slice(0, 8)}…\\s+2025-11-25\\s+\\d\\d:\\d\\d`),
        );
        assert.deepEqual(await inspect(page), []);
      }
      await page.reload();
      await page.getByRole('table', { name: 'Open sessions' }).waitFor();
      assert.ok(!(await page.content()).includes(id));
      leaving.abort();
      await fetch(`${app.origin}/mcp`, { method: 'DELETE', headers: session });
      await page.getByText('No client has open sessions.').waitFor();
    },
  },
  {
    name: 'calls with long arguments, and says that its link does not hold them',
    async check({ page }) {
      await chooseCall(page, 'echo');
      await page.getByRole('textbox', { name: 'text' }).fill('a'.repeat(150_000));
      await page.getByText(/The arguments have 150,011 characters/).waitFor();
      assert.match(await textOf(await call(page)), /150011/);
      assert.ok(page.url().endsWith('#/tools/echo/call'));
      await page.getByRole('textbox', { name: 'text' }).fill('short');
      await page.getByText(/The arguments have/).waitFor({ state: 'hidden' });
    },
  },
  {
    name: 'shows the limits of a field, and sends what the server may refuse',
    async check({ page }) {
      await chooseCall(page, 'getCustomer');
      const [id, limit] = [page.getByLabel('id (required)'), page.getByLabel('limit')];
      const hintOf = async field => textOf(page.locator(`#${await field.getAttribute('aria-describedby')}`));
      assert.equal(await hintOf(id), 'Number of the customer · at least 1 character');
      assert.equal(await hintOf(limit), 'integer, ≥ 1, ≤ 100');
      assert.deepEqual([await limit.getAttribute('min'), await limit.getAttribute('max')], ['1', '100']);
      await id.fill('7');
      await limit.fill('101');
      assert.match(await textOf(await call(page)), /limit.*100/);
      await limit.fill('100');
      assert.match(await textOf(await call(page)), /get customer 7/);
    },
  },
  {
    name: 'shows the arguments of past calls as they are, and reads long ones from the history',
    async check({ page }) {
      await chooseCall(page, 'echo');
      for (const text of ['two  spaces', 'a'.repeat(3000)]) {
        await page.getByRole('textbox', { name: 'text' }).fill(text);
        await call(page);
      }
      assert.equal(await page.getByText('Calls of this browser', { exact: true }).count(), 1);
      await show(page, 'history');
      const [long, short] = await page.getByRole('table').locator('tbody tr').all();
      assert.ok((await textOf(short)).includes('{"text":"two  spaces"}'));
      const edit = long.getByRole('link', { name: 'Edit' });
      assert.match(await edit.getAttribute('href'), /^#\/tools\/echo\/call\?run=[0-9a-f]{32}$/);
      await edit.click();
      assert.equal(await page.getByRole('textbox', { name: 'text' }).inputValue(), 'a'.repeat(3000));
      await page.goBack();
      await short.getByRole('link', { name: 'Edit' }).click();
      assert.equal(await page.getByRole('textbox', { name: 'text' }).inputValue(), 'two  spaces');
    },
  },
  {
    name: 'says each finding once, with its remedy and its handlers',
    async check({ page }) {
      await show(page, 'findings');
      const rule = page.locator('.rule').filter({ hasText: 'No description' });
      assert.match(await textOf(rule.getByRole('heading')), /No description 12/);
      assert.equal(await rule.getByText('The tool has no description.').count(), 1);
      await rule.getByRole('link', { name: 'tagOrder' }).click();
      await page.getByRole('heading', { name: 'tagOrder' }).waitFor();
    },
  },
];
