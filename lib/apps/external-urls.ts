import type { AppCsp } from './app-options.js';

/** What a view loads from another origin, although its `csp` does not admit it. */
export interface RefusedUrl {
  readonly url: string;
  /** The option that would admit it. */
  readonly option: keyof AppCsp;
}

/** The elements that load something, and the attribute with its URL. */
const LOADED =
  /<(script|img|link|iframe|source|video|audio|track|embed|object|base)\b[^>]*?\s(?:src|href|data)\s*=\s*["']?((?:https?:)?\/\/[^"'\s>]+)/gi;

const OPTIONS: Readonly<Record<string, keyof AppCsp>> = { iframe: 'frameDomains', base: 'baseUriDomains' };

/**
 * Finds the external URLs in the elements of a view that hosts will not load. It does not look into scripts and styles.
 * Specification: SEP-1865, UI resource format.
 */
export function refusedUrlsIn(html: string, csp: AppCsp = {}): RefusedUrl[] {
  const withoutComments = html.replace(/<!--[^]*?-->/g, '');
  return [...withoutComments.matchAll(LOADED)].flatMap(([, element, url]) => {
    // Such as the placeholder of a template.
    if (!URL.canParse(url, 'https://localhost')) return [];
    const option = OPTIONS[element.toLowerCase()] ?? 'resourceDomains';
    const isAdmitted = (csp[option] ?? []).some(source => admits(source, url));
    return isAdmitted ? [] : [{ url, option }];
  });
}

/** @param source as in a Content Security Policy: an origin, perhaps with `*.` before the host, or `*` */
function admits(source: string, url: string): boolean {
  const { origin, protocol } = new URL(url, 'https://localhost');
  if (source === '*' || source === protocol) return true;
  const [start, domain] = source.replace(/\/$/, '').split('*.', 2);
  if (domain === undefined) return start === origin;
  return origin.startsWith(start) && origin.endsWith(`.${domain}`);
}
