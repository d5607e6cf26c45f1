import type { ApplicationConfig } from '@nestjs/core';
import type { Entry } from '../../catalog/entries.js';
import { enhancerSteps, visibleSteps } from '../../execution/enhancer-steps.js';
import type { Era } from '../../protocol/mcp-call.js';
import { LIST_OF, listOf, rowsOf, type Row } from '../../protocol/methods.js';
import type { Requirement } from '../../protocol/permissions.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { encodeResult } from '../../server/wire-codec.js';
import { HEADER_PREFIX } from '../../headers/header-params.js';
import { defined } from '../../util/defined.js';
import type { Catalogue, CatalogueEntry, CatalogueServer } from '../api.js';
import { revisionsOf } from '../call/caller.js';
import { methodsOf, type ExtendedMethod } from './methods.js';

/** Characters for each token, as a rule of thumb. */
const TOKEN_LENGTH = 4;

export const catalogueOf = (servers: readonly McpServerInstance[], config: ApplicationConfig): Catalogue => ({
  servers: servers.map(server => serverOf(server, config)),
});

function serverOf(server: McpServerInstance, config: ApplicationConfig): CatalogueServer {
  const { info, options, paths, permissions } = server;
  const entries = [...server.table.enabled()];
  const definitions = definitionsOf(server, entries);
  const handlers = [
    ...entries.map(entry => entryOf(entry, definitions, server, config)),
    ...methodsOf(server).map(method => methodOf(method, server, config)),
  ];
  const [path] = options.http ? paths : [];
  return {
    name: options.name,
    version: info.version,
    ...defined({ title: info.title, path }),
    isGateway: server.handlers.isRemote,
    isProtected: permissions !== undefined,
    revisions: revisionsOf(server),
    handlers,
    tokens: handlers.reduce((sum, { tokens }) => sum + tokens, 0),
    parts: path === undefined ? [] : (server.extensions.views?.suffixes() ?? []),
    ...(path !== undefined && { inspector: inspectorOf(path) }),
  };
}

/** The page knows the origin; the path is a server's. */
const inspectorOf = (path: string): string =>
  `npx @modelcontextprotocol/inspector@latest --transport http --server-url {origin}${path}`;

function entryOf(
  entry: Entry,
  definitions: Definitions,
  { permissions }: McpServerInstance,
  config: ApplicationConfig,
): CatalogueEntry {
  const { kind, key, where, run } = entry;
  const definition = 'definition' in entry ? entry.definition : undefined;
  const known = definitions.get(entry);
  return {
    kind,
    name: key,
    ...defined({ title: definition?.title, description: definition?.description }),
    ...accessOf(where, entry.requirement, run.plan, permissions, config),
    ...(known && { definitions: known }),
    headers:
      kind === 'tool'
        ? entry.headerParams.map(({ name, path }) => ({
            header: HEADER_PREFIX + name,
            argument: path.join('.'),
          }))
        : [],
    ...('cache' in entry && entry.cache && { cache: cacheOf(entry.cache) }),
    tokens: kind === 'tool' ? tokensOf(known?.modern) : 0,
  };
}

function methodOf(
  { name, own, entry }: ExtendedMethod,
  { permissions }: McpServerInstance,
  config: ApplicationConfig,
): CatalogueEntry {
  const { where = '.', requirement, eras, nameHeader } = own;
  return {
    kind: 'method',
    name,
    ...accessOf(where, requirement, entry?.run.plan, permissions, config),
    ...defined({ params: entry?.params, result: entry?.result?.jsonSchema, eras, nameHeader }),
    headers: [],
    tokens: 0,
  };
}

const cacheOf = ({ ttlMs, cacheScope }: { ttlMs?: number; cacheScope?: 'public' | 'private' }) => ({
  ttlMs: ttlMs ?? 0,
  ...(cacheScope && { scope: cacheScope }),
});

/** Where a handler is written, and who may reach it. */
function accessOf(
  where: string,
  requirement: Requirement | undefined,
  plan: Entry['run']['plan'] | undefined,
  permissions: McpServerInstance['permissions'],
  config: ApplicationConfig,
) {
  const dot = where.lastIndexOf('.');
  return {
    className: where.slice(0, dot),
    methodName: where.slice(dot + 1),
    steps: plan ? enhancerSteps(plan, config) : [],
    visible: plan ? visibleSteps(plan) : [],
    scopes: requirement?.scopes ?? [],
    ...(permissions && { anonymous: (requirement?.anonymous ?? permissions.anonymous) === true }),
  };
}

/** The row of a list for an entry, in each era: an era can have other forms of schemas. */
type Definitions = ReadonlyMap<Entry, Readonly<Record<Era, Row>>>;

/** Has the entries encoded as lists are, all at once. */
function definitionsOf(server: McpServerInstance, entries: readonly Entry[]): Definitions {
  const rows = new Map<Entry, Record<Era, Row>>();
  for (const [kind, method] of Object.entries(LIST_OF)) {
    const own = entries.filter(entry => entry.kind === kind && 'definition' in entry);
    const page = { [listOf(method).lists]: own.map(entry => 'definition' in entry && entry.definition) };
    const [modern, legacy] = (['modern', 'legacy'] as const).map(era =>
      rowsOf(method, encodeResult({ method, era }, page, server.info, undefined)),
    );
    own.forEach((entry, index) => rows.set(entry, { modern: modern[index], legacy: legacy[index] }));
  }
  return rows;
}

/** What a model pays for the definition of a tool, as an estimate. */
export const tokensOf = (definition: object | undefined): number =>
  definition ? Math.ceil(JSON.stringify(definition).length / TOKEN_LENGTH) : 0;
