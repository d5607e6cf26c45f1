import type { ListToolsResult, Result } from '@modelcontextprotocol/server';
import { HEADER_PREFIX, readHeaderParams } from '../headers/header-params.js';
import type { DispatchedMethod, Params } from './dispatcher.js';
import type { Exchange } from './exchange.js';
import type { ToolSchemas } from './upstream.js';

/**
 * Compares the headers of a call with its arguments (2026-07-28 over HTTP); it is a promise only where the tool's schema
 * has to be asked for.
 * @param shown the page of the list that shows the tool, where interceptors have a say in that; by default as it is
 * @throws McpException (-32020) where they differ
 */
export type MirrorCheck = (
  method: DispatchedMethod,
  params: Params,
  exchange: Exchange,
  shown?: Result,
) => void | Promise<void>;

const hasParamHeader = ({ http }: Exchange): boolean =>
  Object.keys(http?.headers ?? {}).some(name => name.startsWith(HEADER_PREFIX.toLowerCase()));

/** @param schemasOf what a tool declares; undefined where there is none */
export const mirrorCheck =
  (
    schemasOf: (
      name: string,
      exchange: Exchange,
    ) => ToolSchemas | undefined | Promise<ToolSchemas | undefined>,
  ): MirrorCheck =>
  (method, { name }, exchange, shown) => {
    const check = method === 'tools/call' && exchange.era === 'modern' && exchange.http?.assertMirrored;
    if (!check || typeof name !== 'string') return;
    const compare = ({ inputSchema }: ToolSchemas = {}) => {
      const found = inputSchema && readHeaderParams(inputSchema);
      // Of a backend's tool, and of one that an interceptor rewrote, as far as they declare them well.
      if (found?.ok) check(found.params);
    };
    if (shown) {
      const { tools } = shown as Partial<ListToolsResult>;
      return compare(tools?.find(tool => tool.name === name));
    }
    const schemas = schemasOf(name, exchange);
    if (!(schemas instanceof Promise)) return compare(schemas);
    return schemas.then(compare, (error: unknown) => {
      // A backend that cannot list may serve calls: it is sent no headers, and says itself where one is missing.
      if (hasParamHeader(exchange)) throw error;
    });
  };
