/*
 * The JSON API of the explorer. All paths are relative to the page, which is served at `<path>/index.html`; `<path>` redirects
 * there:
 *
 * | request              | body                | answer                     |
 * | -------------------- | ------------------- | -------------------------- |
 * | GET  `api/catalogue` |                     | `Catalogue`                |
 * | GET  `api/chain`     |                     | `Chains`                   |
 * | GET  `api/live`      |                     | `Live`                     |
 * | GET  `api/findings`  |                     | `Findings`                 |
 * | POST `api/callers`   | `CallerViewRequest` | `CallerView`               |
 * | POST `api/call`      | `CallRequest`       | `CallTrace` or `CallEvent` |
 * | POST `api/answer`    | `AnswerRequest`     | `{}`                       |
 * | POST `api/view`      | `ViewRequest`       | `AppView`                  |
 * | POST `api/tasks`     | `TasksRequest`      | `Tasks`                    |
 * | POST `api/cancel`    | `CancelRequest`     | `{}`                       |
 *
 * A POST needs `content-type: application/json` and the header `mcp-explorer: 1`, and comes from the same origin. With
 * `accept: application/x-ndjson`, `api/call` answers with a `CallEvent` on each line.
 * A failure has a 4xx or 5xx status and an `ApiError`. After the first line of an answer, it is the event `failed`.
 *
 * The sources of the page are in the folder `page/` beside this file. The build bundles them into `main.js` and `style.css`,
 * and adds `app-bridge.js`, which the page loads for its first view. The module reads the built folder once, at start-up.
 * The page has no inline script or style and no inline event handler, because its Content-Security-Policy, in
 * `explorer-site.ts`, admits only files of its own origin, besides pictures and sounds in `data:` URLs. A `style="…"`
 * attribute has no effect; properties of `element.style` have.
 *
 * `view.html?csp=<JSON>` is the frame of a view: it becomes the HTML that the page sends to it. Its origin is opaque, and its
 * Content-Security-Policy is what a host makes of `csp`.
 */

export type * from './api/shared.js';
export type * from './api/catalogue.js';
export type * from './api/chain.js';
export type * from './api/callers.js';
export type * from './api/call.js';
export type * from './api/tasks.js';
export type * from './api/live.js';
export type * from './api/findings.js';
