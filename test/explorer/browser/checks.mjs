/* global document, fetch, localStorage, location, parent, self */
// The checks by application. Each opens the explorer anew.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { SCRIPT } from './apps.mjs';
import {
  answer,
  call,
  callAs,
  choose,
  chooseCall,
  copied,
  everyView,
  inspect,
  open,
  show,
} from './looks.mjs';
import { LARGE } from './large-checks.mjs';

const run = promisify(execFile);
const ALICE = 'token-of-alice';

const textOf = locator => locator.innerText();

const messagesOf = round => round.getByRole('list', { name: 'Messages of the view' });

/** Calls the tool of the bundled view, and waits until the view shows its result. */
async function showSales(page) {
  await chooseCall(page, 'sales');
  await page.getByLabel('region').selectOption('Asia');
  const round = await call(page);
  const view = round.frameLocator('iframe');
  await view.getByText('Q4').waitFor();
  return { round, view };
}

/** What a script in a view reaches, or why not. */
const reach = page =>
  page.frames()[1].evaluate(async () => {
    const attempt = read => {
      try {
        return String(read());
      } catch (error) {
        return error.name;
      }
    };
    const ask = url =>
      fetch(url).then(
        ({ status }) => status,
        ({ message }) => message,
      );
    return {
      origin: self.origin,
      page: attempt(() => parent.document),
      storage: attempt(() => localStorage),
      elsewhere: await ask('https://example.com/'),
      explorer: await ask('api/live'),
    };
  });

const colours = {
  name: 'remembers the colours that were chosen',
  async check({ page }) {
    const back = () =>
      page.evaluate(() => document.defaultView.getComputedStyle(document.body).backgroundColor);
    const light = await back();
    await page.getByLabel('Colours').selectOption('dark');
    assert.notEqual(await back(), light);
    await page.reload();
    await page.locator('mcp-handlers:not([aria-busy])').waitFor();
    assert.notEqual(await back(), light);
    assert.deepEqual(await inspect(page), []);
  },
};

/** A page of another origin, with the explorer in a frame and a request to it. */
const otherOrigin = {
  name: 'is neither framed nor called by a page of another origin',
  isAlone: true,
  async check({ page, app }) {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<!doctype html><iframe src="${app.page}"></iframe>`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await page.goto(`http://127.0.0.1:${server.address().port}/`, { waitUntil: 'load' });
      const inFrame = page.frames()[1];
      assert.equal(await inFrame.locator('#rail').count(), 0);
      const body = {
        server: 'guarded-shop',
        caller: { kind: 'anonymous' },
        method: 'tools/call',
        params: { name: 'search', arguments: { query: 'forged' } },
        confirmed: true,
      };
      await page.evaluate(
        ([url, text]) => fetch(url, { method: 'POST', mode: 'no-cors', body: text }).catch(() => {}),
        [`${app.origin}/mcp-explorer/api/call`, JSON.stringify(body)],
      );
    } finally {
      server.close();
    }
    const live = await fetch(`${app.origin}/mcp-explorer/api/live`);
    const { calls } = await live.json();
    assert.deepEqual(
      calls.filter(({ method }) => method === 'tools/call'),
      [],
    );
  },
};

export const CHECKS = {
  large: LARGE,
  '60-extension': [
    ...everyView(),
    {
      name: 'lists and calls a method of an extension',
      async check({ page }) {
        await choose(page, 'example/search');
        assert.match(await textOf(page.locator('.node.method')), /SearchExtension\.search/);
        await chooseCall(page, 'example/search');
        await page.getByLabel('query').fill('lamp');
        assert.match(await textOf(await call(page)), /hits/);
        const command = await copied(page, 'curl');
        const { stdout } = await run('sh', ['-c', command]);
        assert.match(stdout, /hits/);
      },
    },
  ],
  '03-guards': [
    ...everyView(),
    {
      name: 'lists what runs around a handler, in order',
      async check({ page }) {
        await choose(page, 'closeAccount');
        const way = page.getByRole('region', { name: 'Way of a call' });
        await way.getByText('AccountTools.closeAccount()').waitFor();
        assert.match(
          await textOf(way),
          /AuthGuard[^]*LoggingInterceptor[^]*AccountTools\.closeAccount\(\)[^]*AccountNotFoundFilter/,
        );
        await page.getByRole('link', { name: 'Definition' }).click();
        assert.match(await textOf(page.locator('.detail .fields')), /id any|id string/);
      },
    },
    {
      name: 'calls as the owner of a token',
      async check({ page }) {
        await callAs(page, { token: ALICE });
        await chooseCall(page, 'whoAmI');
        assert.match(await textOf(await call(page)), /Alice/);
        const command = await copied(page, 'curl');
        assert.doesNotMatch(command, /token-of-alice/);
        const { stdout } = await run('sh', ['-c', command], { env: { ...process.env, TOKEN: ALICE } });
        assert.match(stdout, /Alice/);
        const stored = await page.evaluate(() => JSON.stringify(localStorage) + location.href);
        assert.doesNotMatch(stored, /token-of-alice/);
      },
    },
    {
      name: 'calls the other server',
      async check({ page }) {
        await page.getByLabel('Server', { exact: true }).selectOption('status');
        await chooseCall(page, 'status');
        assert.match(await textOf(await call(page)), /open/);
      },
    },
  ],
  '10-interceptors': [
    otherOrigin,
    ...everyView(),
    colours,
    {
      name: 'shows the command of the official inspector',
      async check({ page, app }) {
        await page.getByRole('button', { name: 'Connect' }).click();
        const command = await textOf(page.getByRole('group', { name: 'Command that starts the inspector' }));
        assert.match(command, /^npx @modelcontextprotocol\/inspector@latest /);
        assert.ok(command.endsWith(`${app.origin}/mcp`), command);
      },
    },
    {
      name: 'says which interceptor removed a tool from the list',
      async check({ page }) {
        await show(page, 'access');
        const missing = page.getByRole('region', { name: /missing entr/ });
        assert.match(await textOf(missing), /interceptor hideWipe [^]*\swipe/);
        await callAs(page, { scopes: 'orders:read', revision: '2025-11-25' });
        await page.getByText('With orders:read.').waitFor();
        await page.reload();
        await page.getByText('With orders:read.').waitFor();
        assert.deepEqual(await inspect(page), []);
      },
    },
    {
      name: 'shows the verdict of a validator, and counts an audit',
      async check({ page }) {
        await chooseCall(page, 'search');
        await page.getByLabel('query').fill('a rather long competitor');
        const refused = await textOf(await call(page));
        assert.match(refused, /-32602/);
        assert.match(refused, /deny/);
        await page.getByLabel('query').fill('a rather long query');
        assert.match(await textOf(await call(page)), /2 results/);
        await show(page, 'chain');
        await page.locator('.list a').filter({ hasText: 'plainIds' }).click();
        await page.getByText('active override').waitFor();
        await show(page, 'live');
        await page.getByLabel('Hide calls of this page').uncheck();
        await page.getByLabel('Outcome').selectOption('failed');
        await page.getByRole('table', { name: 'Latest calls' }).getByText('-32602').first().waitFor();
        assert.deepEqual(await inspect(page), []);
        assert.doesNotMatch(await textOf(page.locator('main')), /competitor/);
      },
    },
    {
      name: 'shows what a mutator changed',
      async check({ page }) {
        await chooseCall(page, 'customer');
        await page.getByLabel('id').fill('7');
        const round = await call(page);
        const change = round.getByRole('group', { name: /hideCards changed/ });
        assert.match(await textOf(change.locator('del').first()), /4111 1111 1111 1111/);
        assert.match(await textOf(change.locator('ins').first()), /\*{4} \*{4} \*{4} \*{4}/);
        assert.match(await textOf(round), /Trace id [0-9a-f]{32}/);
        assert.match(await copied(page, 'test'), /createTestClient\(app/);
      },
    },
    {
      name: 'makes no call that the user does not confirm',
      async check({ page }) {
        await chooseCall(page, 'search');
        await page.getByRole('button', { name: 'Call', exact: true }).click();
        const dialog = page.getByRole('dialog');
        await dialog.waitFor();
        assert.deepEqual(await inspect(page), []);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        assert.equal(await page.locator('.rounds > li').count(), 0);
      },
    },
  ],
  '12-gateway': [
    ...everyView(),
    {
      name: "lists what a backend offers, and calls the backend's tool",
      async check({ page }) {
        await show(page, 'access');
        assert.match(await textOf(page.getByRole('table', { name: 'Entries of tools/list' })), /echo/);
        await chooseCall(page, 'echo');
        await page.getByLabel('message').fill('hello from the page');
        assert.match(await textOf(await call(page)), /hello from the page/);
      },
    },
    {
      name: 'shows the verdict about a call that crosses',
      async check({ page }) {
        await chooseCall(page, 'get-sum');
        await page.getByLabel('a (required)').fill('101');
        await page.getByLabel('b (required)').fill('1');
        assert.match(await textOf(await call(page)), /That is too much/);
      },
    },
  ],
  '20-mrtr': [
    ...everyView(),
    {
      name: 'shows the elicitations of a call as forms, round by round',
      async check({ page }) {
        await chooseCall(page, 'deploy');
        await page.getByLabel('service').fill('shop');
        const first = await call(page);
        assert.match(await textOf(first), /Deploy build \d+ of shop\?/);
        await first.getByLabel('isSure').selectOption('true');
        await first.getByRole('button', { name: 'Answer' }).click();
        const second = await answer(page, 2);
        await second.getByLabel('region').selectOption('eu');
        await second.getByRole('button', { name: 'Answer' }).click();
        assert.match(await textOf(await answer(page, 3)), /of shop runs on eu\.example\.com/);
        assert.match(await copied(page, 'test'), /onElicit/);
      },
    },
    {
      name: 'declines an elicitation',
      async check({ page }) {
        await chooseCall(page, 'deploy');
        await page.getByLabel('service').fill('shop');
        const first = await call(page);
        await first.getByLabel('Action').selectOption('decline');
        await first.getByRole('button', { name: 'Answer' }).click();
        assert.match(await textOf(await answer(page, 2)), /shop stays as it is/);
      },
    },
  ],
  '61-tasks': [
    ...everyView(),
    {
      name: 'polls the task of a call, answers its elicitation and shows its result',
      async check({ page, picture }) {
        await chooseCall(page, 'report');
        await page.getByLabel('year').fill('2026');
        const panel = (await call(page)).locator('mcp-task');
        await panel.getByLabel('format').selectOption('csv');
        assert.deepEqual(await inspect(page), []);
        await panel.getByRole('button', { name: 'Answer' }).click();
        await panel.getByText('2026,468').first().waitFor();
        assert.match(await textOf(panel), /^completed Task [0-9a-f-]{36}/);
        assert.equal(await panel.getByRole('button', { name: 'Cancel the task' }).isVisible(), false);
        assert.deepEqual(await inspect(page), []);
        const test = await copied(page, 'test');
        assert.match(test, /onElicit/);
        assert.match(test, /2026,468/);
        await picture('task');
      },
    },
    {
      name: 'lists the tasks of all callers, and opens, answers and cancels them',
      async check({ page, picture }) {
        await chooseCall(page, 'report');
        await page.getByLabel('year').fill('2026');
        await call(page);
        await show(page, 'tasks');
        const rows = page.getByRole('table', { name: 'Latest tasks of this node' }).getByRole('row');
        const latest = rows.nth(1);
        assert.match(await textOf(latest), /report\s+anonymous\s+input_required/);
        await latest.getByRole('button', { name: 'Open' }).click();
        const panel = page.locator('mcp-tasks mcp-task');
        await panel.getByLabel('format').waitFor();
        assert.deepEqual(await inspect(page), []);
        await picture('tasks', true);
        await latest.getByRole('button', { name: 'Cancel task' }).click();
        const dialog = page.getByRole('dialog');
        assert.match(await textOf(dialog), /The task of report ends/);
        await dialog.getByRole('button', { name: 'Cancel the task' }).click();
        await latest.getByText('cancelled').waitFor();
        await panel.getByText('cancelled').waitFor();
      },
    },
    {
      name: 'cancels the task of a call, and keeps the focus while the list is read again',
      async check({ page }) {
        await chooseCall(page, 'report');
        await page.getByLabel('year').fill('2026');
        const panel = (await call(page)).locator('mcp-task');
        await panel.getByRole('button', { name: 'Cancel the task' }).click();
        await panel.getByText('cancelled').waitFor();
        await show(page, 'tasks');
        await page.getByRole('button', { name: 'Open' }).first().focus();
        const id = await page.evaluate(() => document.activeElement.id);
        assert.match(id, /^open-/);
        await page.waitForResponse('**/api/tasks');
        await page.evaluate(
          () => new Promise(resolve => document.defaultView.requestAnimationFrame(resolve)),
        );
        assert.equal(await page.evaluate(() => document.activeElement.id), id);
      },
    },
  ],
  '51-explorer': [
    ...everyView(),
    {
      name: 'says why a caller does not see a tool',
      async check({ page, picture }) {
        await show(page, 'access');
        const missing = page.getByRole('region', { name: /missing entr/ });
        assert.match(
          await textOf(missing),
          /guard @Visible\(RolesGuard\) hides it\.\s+customer[^]*interceptor hideWipe [^]*\swipe/,
        );
        await picture('callers', true);
        await callAs(page, { roles: 'clerk' });
        await page.getByText('With role clerk.').waitFor();
        assert.match(await textOf(page.getByRole('table', { name: 'Entries of tools/list' })), /customer/);
      },
    },
    {
      name: 'shows progress, an audit and a change of one call',
      look: 'narrow',
      async check({ page, picture }) {
        await chooseCall(page, 'search');
        await page.getByLabel('query').fill(' a very long lamp ');
        const round = await call(page);
        assert.match(await textOf(round), /Searching/);
        assert.match(await textOf(round), /deny\s+shortQueries\s+audit/);
        assert.match(await textOf(round.locator('del')), /" a very long lamp "/);
        await round
          .getByRole('heading', { name: 'Interceptors' })
          .evaluate(heading => heading.scrollIntoView());
        await picture('call', true);
      },
    },
    {
      name: 'counts what an interceptor in audit mode would have refused',
      look: 'dark',
      async check({ page, picture }) {
        await show(page, 'chain');
        await page.locator('.list a').filter({ hasText: 'shortQueries' }).click();
        await page.getByText(/would have refused [1-9]/).waitFor();
        await picture('chain');
      },
    },
  ],
  '64-apps': [
    {
      name: 'asks before a view changes something',
      look: 'narrow',
      async check({ page }) {
        await chooseCall(page, 'show');
        const round = await call(page);
        const view = round.frameLocator('iframe');
        await view.getByRole('button', { name: 'tea is done' }).click();
        const dialog = page.getByRole('dialog');
        assert.match(await textOf(dialog), /The view calls finish: It may change something/);
        await dialog.getByRole('button', { name: 'Call' }).click();
        await view.getByText('Done: tea').waitFor();
        assert.match(await textOf(messagesOf(round)), /tools\/call\s+finish\s+result\s+HTTP 200/);
        assert.deepEqual(await inspect(page), []);
      },
    },
  ],
  '66-bundled-app': [
    ...everyView(),
    {
      name: 'shows input and result in a view, and calls what the view calls',
      async check({ page, picture }) {
        const { round, view } = await showSales(page);
        await view.getByText('The model asked for Asia.').waitFor();
        assert.equal(await view.getByLabel('Region').inputValue(), 'Asia');
        await view.getByLabel('Region').selectOption('America');
        await view.getByText('45').waitFor();
        assert.match(
          await textOf(messagesOf(round)),
          /tools\/call\s+sales\s+result\s+HTTP 200[^]*America: Q1 30/,
        );
        assert.deepEqual(await inspect(page), []);
        await round.getByRole('heading', { name: 'View', exact: true }).evaluate(it => it.scrollIntoView());
        await picture('view', true);
      },
    },
    {
      name: 'reads and calls what a view needs in the chosen revision',
      async check({ page }) {
        const revisions = [];
        page.on('request', request => {
          if (/api\/(view|call)$/.test(request.url())) revisions.push(request.postDataJSON().revision);
        });
        await callAs(page, { revision: '2025-11-25' });
        const { view } = await showSales(page);
        await view.getByLabel('Region').selectOption('America');
        await view.getByText('45').waitFor();
        assert.deepEqual(revisions, ['2025-11-25', '2025-11-25', '2025-11-25']);
      },
    },
    {
      name: 'shows a view in both themes, and in several widths',
      look: 'dark',
      async check({ page }) {
        const { round, view } = await showSales(page);
        await view.locator('html[data-theme=dark]').waitFor({ state: 'attached' });
        await round.getByLabel('Theme of the view').selectOption('light');
        await view.locator('html[data-theme=light]').waitFor({ state: 'attached' });
        for (const width of [480, 320]) {
          await round.getByLabel('Width of the view').selectOption(String(width));
          assert.equal((await round.locator('iframe').boundingBox()).width, width);
        }
        assert.deepEqual(await inspect(page), []);
      },
    },
    {
      name: 'loads a view again when it is shown again',
      async check({ page }) {
        await showSales(page);
        await show(page, 'live');
        await page.goBack();
        await page.frameLocator('mcp-app iframe').getByText('The model asked for Asia.').waitFor();
      },
    },
    {
      name: 'blocks what the policy of a view does not name, and keeps the view out of the explorer',
      expected: /Content Security Policy/,
      async check({ page }) {
        const { round } = await showSales(page);
        assert.deepEqual(await reach(page), {
          origin: 'null',
          page: 'SecurityError',
          storage: 'SecurityError',
          elsewhere: 'Failed to fetch',
          explorer: 'Failed to fetch',
        });
        await round.getByText('csp: connect-src blocks https://example.com').waitFor();
      },
    },
    {
      name: 'refuses the requests of a view whose policy names the explorer',
      expected: /Content Security Policy|CORS policy|ERR_FAILED/,
      async check({ page, app }) {
        await page.route('**/api/view', async route => {
          const response = await route.fetch();
          const json = { ...(await response.json()), csp: { connectDomains: [app.origin] } };
          await route.fulfill({ response, json });
        });
        await showSales(page);
        const failed = page.waitForEvent('requestfailed', request => request.url().endsWith('/api/live'));
        const { explorer } = await reach(page);
        await failed;
        assert.equal(explorer, 'Failed to fetch');
      },
    },
  ],
  fastify: [
    {
      name: 'is open at the path with a slash, while a global guard protects the server',
      async check({ page, app }) {
        await page.goto(`${app.page}/`);
        await page.locator('mcp-handlers:not([aria-busy])').waitFor();
        await callAs(page, { token: ALICE });
        await chooseCall(page, 'echo');
        // An empty field is left out.
        assert.match(await textOf(await call(page)), /must have required property 'text'/);
        await page.getByRole('textbox', { name: 'text' }).fill('a'.repeat(150_000));
        assert.match(await textOf(await call(page)), /a{1000}/);
        const refused = await fetch(`${app.origin}/mcp`, { method: 'POST' });
        assert.equal(refused.status, 403);
      },
    },
  ],
  exchange: [
    {
      name: 'says that a synthetic caller has no token to exchange, and asks for none',
      expected: /status of/,
      async check({ page, app }) {
        const before = app.asked();
        await callAs(page, { scopes: 'orders:read' });
        await show(page, 'access');
        assert.match(await textOf(page.locator('mcp-access')), /synthetic caller has none to exchange/);
        assert.equal(app.asked(), before);
      },
    },
  ],
  hostile: [
    ...everyView(),
    {
      name: 'asks when the server says that a tool may change something, whatever its list says',
      expected: /status of 409/,
      async check({ page }) {
        await page.route('**/api/callers', async route => {
          const response = await route.fetch();
          const json = await response.json();
          for (const entry of json.lists[0].entries) entry.annotations = { readOnlyHint: true };
          await route.fulfill({ response, json });
        });
        await chooseCall(page, 'speak');
        await page.getByRole('button', { name: 'Call', exact: true }).click();
        const dialog = page.getByRole('dialog');
        await dialog.waitFor();
        assert.match(await textOf(dialog), /may change something/);
        await dialog.getByRole('button', { name: 'Call' }).click();
        assert.match(await textOf(await answer(page, 1)), /Result/);
      },
    },
    {
      name: 'cancels a call',
      async check({ page }) {
        await chooseCall(page, 'speak');
        await page.route('**/api/call', () => {});
        await page.getByRole('button', { name: 'Call', exact: true }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Call' }).click();
        await page.getByRole('button', { name: 'Cancel the call' }).click();
        assert.match(await textOf(await answer(page, 1)), /The call was cancelled/);
      },
    },
    {
      name: 'shows the deep levels of a result as JSON',
      async check({ page }) {
        await chooseCall(page, 'dig');
        const tree = (await call(page)).locator('.tree').first();
        const levels = await tree.evaluate(root => root.querySelectorAll('details').length);
        assert.ok(levels < 50, `${levels} levels`);
        assert.match(await tree.locator('pre').textContent(), /^(\{"in":)+"the end"\}+$/);
      },
    },
    {
      name: 'takes scripts in names, descriptions and results for text',
      async check({ page }) {
        await choose(page, 'speak');
        assert.ok((await textOf(page.locator('.detail'))).includes(SCRIPT));
        await chooseCall(page, 'speak');
        assert.ok((await textOf(await call(page))).includes(SCRIPT));
        await chooseCall(page, 'fail');
        assert.ok((await textOf(await call(page))).includes(SCRIPT));
        assert.equal(await page.locator('main img[onerror], main script').count(), 0);
      },
    },
  ],
};

/** Runs a check in a page of its own. @throws AssertionError also for what the page must not do meanwhile */
export async function runCheck(browser, app, { look, isAlone, expected, check }, { headers, picture }) {
  const opened = await open(browser, app, look, headers);
  try {
    await check({
      page: opened.page,
      app,
      picture: (name, isForDocs = false) => picture(opened.page, name, isForDocs),
    });
    const faults = opened.faults.filter(fault => !expected?.test(fault));
    if (!isAlone) assert.deepEqual(faults, []);
  } finally {
    await opened.close();
  }
}
