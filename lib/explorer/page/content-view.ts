import { code, h, table, type Child } from './dom.js';
import { linkToHandler } from './route.js';
import { count, isList, isRecord, pretty, textOf, type Json } from './values.js';

/** Deeper than this, the nodes of a tree are closed. */
const OPEN_DEPTH = 2;

/** Deeper than this, a tree shows JSON, and lists have no tables. */
const MAX_DEPTH = 20;

/** The parts of a result as a host shows them: texts, pictures, sounds, links, and structured content. */
export function contentView(result: Json): Child[] {
  const { content, contents, messages, structuredContent } = result;
  const isKnown = [content, contents, messages].some(isList) || structuredContent !== undefined;
  return [
    isList(content) && content.filter(isRecord).map(part),
    isList(contents) && contents.filter(isRecord).map(resource),
    isList(messages) && messages.filter(isRecord).map(message),
    structuredContent !== undefined && [
      h('h4', 'Structured content'),
      ...tablesIn(structuredContent),
      tree('', structuredContent, 0),
    ],
    !isKnown && tree('', result, 0),
  ];
}

const message = ({ role, content }: Json): Child => [
  h('h4', textOf(role)),
  isRecord(content) ? part(content) : code(pretty(content), 'Message'),
];

function part(value: Json): Child {
  const { type, text, data, mimeType, uri, name, description, resource: embedded } = value;
  if (type === 'text') return code(textOf(text), 'Text of the result');
  const source = `data:${String(mimeType)};base64,${String(data)}`;
  if (type === 'image' && /^image\/[\w.+-]+$/.test(String(mimeType))) {
    return h('figure', h('img', { src: source, alt: `Picture of the type ${String(mimeType)}` }));
  }
  if (type === 'audio' && /^audio\/[\w.+-]+$/.test(String(mimeType))) {
    return h(
      'figure',
      h('audio', { src: source, controls: true, 'aria-label': `Sound of the type ${String(mimeType)}` }),
    );
  }
  if (type === 'resource_link') {
    return h(
      'p.link',
      h('a', { href: linkToHandler('resource', textOf(uri), 'call') }, textOf(name ?? uri)),
      ' ',
      h('code', textOf(uri)),
      description !== undefined && h('small', textOf(description)),
    );
  }
  if (type === 'resource' && isRecord(embedded)) return resource(embedded);
  return code(pretty(value), `Content of the type ${String(type)}`);
}

function resource({ uri, text, blob, mimeType }: Json): Child {
  const heading = h('p.hint', h('code', textOf(uri ?? '')), mimeType !== undefined && ` ${textOf(mimeType)}`);
  if (typeof text === 'string') return [heading, code(text, `Text of ${textOf(uri)}`)];
  return /^(image|audio)\//.test(String(mimeType))
    ? [heading, part({ type: String(mimeType).split('/')[0], data: blob, mimeType })]
    : [heading, h('p', `${textOf(blob ?? '').length.toLocaleString('en')} characters of Base64`)];
}

/** A table for each list of flat records. */
function tablesIn(value: unknown, path = '', depth = 0): HTMLElement[] {
  if (isList(value)) {
    const records = value.filter(isRecord);
    return records.length > 0 && records.length === value.length ? [recordsTable(path, records)] : [];
  }
  if (!isRecord(value) || depth === MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    tablesIn(member, path === '' ? key : `${path}.${key}`, depth + 1),
  );
}

function recordsTable(path: string, records: readonly Json[]): HTMLElement {
  const keys = [...new Set(records.flatMap(Object.keys))].slice(0, 12);
  const cell = (key: string) => (record: Json) =>
    typeof record[key] === 'number' ? h('span.number', textOf(record[key])) : textOf(record[key] ?? '');
  return table(path === '' ? 'Rows' : path, Object.fromEntries(keys.map(key => [key, cell(key)])), records);
}

/** A value as a tree whose nodes open and close. */
export function tree(key: string, value: unknown, depth: number): HTMLElement {
  const name = key !== '' && [h('code', key), ' '];
  if (!isRecord(value) && !isList(value)) {
    return h('div.leaf', name, h('span', { class: `value ${typeof value}` }, JSON.stringify(value)));
  }
  if (depth === MAX_DEPTH) return h('div.leaf', name, code(pretty(value), 'Deeper values as JSON'));
  const members = Object.entries(value);
  const size = count(members.length, isList(value) ? 'item' : 'field');
  return h(
    'details.tree',
    { open: depth < OPEN_DEPTH },
    h('summary', name, h('span.type', size)),
    ...members.map(([member, child]) => tree(member, child, depth + 1)),
  );
}
