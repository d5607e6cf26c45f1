/*
 * The JSON API of the explorer. All paths are relative to the page, which is served at `<path>/index.html`; `<path>` redirects
 * there:
 *
 * | request              | body            | answer      |
 * | -------------------- | --------------- | ----------- |
 * | GET  `api/catalogue` |                 | `Catalogue` |
 * | GET  `api/chain`     |                 | `Chains`    |
 * | GET  `api/live`      |                 | `Live`      |
 * | GET  `api/findings`  |                 | `Findings`  |
 * | POST `api/callers`   | `CallerViewRequest` | `CallerView`    |
 * | POST `api/call`      | `CallRequest`   | `CallTrace` |
 * | POST `api/answer`    | `AnswerRequest` | `{}`    |
 * | POST `api/view`      | `ViewRequest`   | `AppView`   |
 * | POST `api/tasks`     | `TasksRequest`  | `Tasks`     |
 * | POST `api/cancel`    | `CancelRequest` | `{}`        |
 *
 * A POST needs `content-type: application/json` and the header `mcp-explorer: 1`, and comes from the same origin.
 * A failure has a 4xx or 5xx status and an `ApiError`.
 *
 * The page is the folder `page/` beside this file, flat: `index.html`, `*.js`, `*.css` and `*.svg`. Its `.ts` sources are
 * compiled to browser ES modules of the same names when the package is built. The module reads the folder once, at start-up.
 * The page has no inline script or style and no inline event handler: the Content-Security-Policy is `default-src 'none';
 * script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'`, with forms and bases
 * forbidden, and other pages that frame it. A `adoptedStyleSheets` constructed in a script works; a `style="…"` attribute does
 * not.
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
