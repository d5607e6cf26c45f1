import type { ApplicationConfig } from '@nestjs/core';
import type { Entry } from '../../catalog/entries.js';
import { enhancerSteps, visibleSteps } from '../../execution/enhancer-steps.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { HEADER_PREFIX } from '../../headers/header-params.js';
import { defined } from '../../util/defined.js';
import type { Catalogue, CatalogueEntry, CatalogueServer } from '../api.js';
import { revisionsOf } from '../call/caller.js';
import { definitionsOf, type Definitions } from './definitions.js';
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
  const [className, methodName] = splitAt(where);
  const definition = 'definition' in entry ? entry.definition : undefined;
  const known = definitions(entry);
  const anonymous = entry.requirement?.anonymous ?? permissions?.anonymous;
  return {
    kind,
    name: key,
    ...defined({ title: definition?.title, description: definition?.description }),
    className,
    methodName,
    steps: enhancerSteps(run.plan, config),
    visible: visibleSteps(run.plan),
    scopes: entry.requirement?.scopes ?? [],
    ...(permissions && { anonymous: anonymous === true }),
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
  const [className, methodName] = splitAt(where);
  return {
    kind: 'method',
    name,
    className,
    methodName,
    steps: entry ? enhancerSteps(entry.run.plan, config) : [],
    visible: entry ? visibleSteps(entry.run.plan) : [],
    scopes: requirement?.scopes ?? [],
    ...(permissions && { anonymous: (requirement?.anonymous ?? permissions.anonymous) === true }),
    ...defined({ params: entry?.params, result: entry?.result?.jsonSchema, eras, nameHeader }),
    headers: [],
    tokens: 0,
  };
}

const cacheOf = ({ ttlMs, cacheScope }: { ttlMs?: number; cacheScope?: 'public' | 'private' }) => ({
  ttlMs: ttlMs ?? 0,
  ...(cacheScope && { scope: cacheScope }),
});

function splitAt(where: string): [string, string] {
  const dot = where.lastIndexOf('.');
  return [where.slice(0, dot), where.slice(dot + 1)];
}

/** What a model pays for the definition of a tool, as an estimate. */
export const tokensOf = (definition: object | undefined): number =>
  definition ? Math.ceil(JSON.stringify(definition).length / TOKEN_LENGTH) : 0;
