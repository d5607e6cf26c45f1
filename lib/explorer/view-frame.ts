import { isRecord } from '../util/is-record.js';
import { jsonIn } from '../util/json-in.js';

/**
 * Becomes the view that the page sends. `document.open()` removes the listener, and keeps the policy. What the policy blocks
 * is reported as a log message of the view.
 */
export const VIEW_FRAME = Buffer.from(`<!doctype html>
<title>View</title>
<script>
  addEventListener('message', ({ source, data }) => {
    if (source !== parent) return;
    document.open();
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      const params = { level: 'error', logger: 'csp', data: effectiveDirective + ' blocks ' + blockedURI };
      parent.postMessage({ jsonrpc: '2.0', method: 'notifications/message', params }, '*');
    });
    document.write(data.html);
    document.close();
  });
</script>
`);

/**
 * The Content-Security-Policy of a view. `'self'` is left out, because it would be the origin of the explorer.
 * Specification: SEP-1865, Content Security Policy Enforcement.
 * @param csp `_meta.ui.csp` of the view, as JSON. Anything else admits nothing
 */
export function viewPolicy(csp: string | null): string {
  const given = jsonIn(csp ?? undefined);
  const declared = isRecord(given) ? given : {};
  const from = (option: string, ...others: string[]) =>
    [...others, ...sourcesIn(declared[option])].join(' ') || "'none'";
  return [
    "default-src 'none'",
    `script-src ${from('resourceDomains', "'unsafe-inline'")}`,
    `style-src ${from('resourceDomains', "'unsafe-inline'")}`,
    `img-src ${from('resourceDomains', 'data:')}`,
    `media-src ${from('resourceDomains', 'data:')}`,
    `font-src ${from('resourceDomains')}`,
    `connect-src ${from('connectDomains')}`,
    `frame-src ${from('frameDomains')}`,
    `base-uri ${from('baseUriDomains')}`,
    "object-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ].join('; ');
}

/** Origins, schemes and wildcards. Other texts could end the directive, or be a keyword. */
const sourcesIn = (list: unknown): string[] =>
  Array.isArray(list)
    ? list.filter((one): one is string => typeof one === 'string' && /^[\w.:/*[\]-]+$/.test(one))
    : [];
