import type { Kind } from '../api.js';
import { h, type Child } from './dom.js';
import { linkTo, linkToHandler } from './route.js';
import { shortId } from './values.js';

export const interceptorLink = (id: string): HTMLElement =>
  h('a', { href: linkTo(['chain', id]) }, h('code', shortId(id)));

export const handlerLink = (kind: Kind, name: string, tab?: string): HTMLElement =>
  h('a', { href: linkToHandler(kind, name, tab) }, h('code', name));

const MAX_LINKS = 24;

/** Links in columns. Of many, the first ones are shown. */
export const linkList = (links: readonly HTMLElement[]): Child => [
  columnsOf(links.slice(0, MAX_LINKS)),
  links.length > MAX_LINKS &&
    h('details', h('summary', `${links.length - MAX_LINKS} more`), columnsOf(links.slice(MAX_LINKS))),
];

const columnsOf = (links: readonly HTMLElement[]): HTMLElement =>
  h(
    'ul.subjects',
    links.map(link => h('li', link)),
  );
