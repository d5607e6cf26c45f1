import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { requirementOf } from '../catalog/requirement.js';
import { GuardDenied } from '../exceptions/guard-denied.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { HandlerExecutor, RunHandler } from '../execution/handler-executor.js';
import { describeTarget, type HandlerTarget } from '../execution/handler-target.js';
import type { McpContext } from '../execution/mcp-context.js';
import { isNotFound, toFailure } from '../protocol/errors.js';
import type { Requirement } from '../protocol/permissions.js';
import { childrenOf } from './directory.js';
import {
  skillsAround,
  SOURCE_METADATA,
  type SkillSource,
  type SkillSourceOptions,
  type WholeSource,
} from './skill-source.js';

/** A source that a provider serves. */
export interface BoundSource extends WholeSource {
  readonly where: string;
  readonly requirement?: Requirement;
}

const FUNCTIONS = ['list', 'get', 'read', 'readDirectory'] as const satisfies (keyof SkillSource)[];

/** The providers with `@SkillSource()` for a server. @throws McpBootstrapError for one that lacks a function */
export function sourcesIn(
  modules: ModulesContainer,
  executor: HandlerExecutor,
  server: string,
): BoundSource[] {
  const found = new Map<object, BoundSource>();
  for (const [moduleKey, { providers }] of modules) {
    for (const wrapper of providers.values()) {
      const instance = (wrapper.isAlias ? undefined : wrapper.instance) as SkillSource | undefined;
      const handlerClass = instance?.constructor as Type | undefined;
      const options = handlerClass && optionsOf(handlerClass);
      if (!options || found.has(instance!) || (options.server ?? server) !== server) continue;
      found.set(instance!, bindSource({ instance: instance!, handlerClass, moduleKey, wrapper }, executor));
    }
  }
  return [...found.values()];
}

const optionsOf = (type: Type) =>
  Reflect.getOwnMetadata(SOURCE_METADATA, type) as SkillSourceOptions | undefined;

type Provider = Omit<HandlerTarget, 'methodName' | 'instance'> & { readonly instance: SkillSource };

/** A caller needs the scopes of all functions, because each list and read may use several of them. */
function requirementOfAll(provider: Provider): Requirement | undefined {
  const all = FUNCTIONS.flatMap(methodName =>
    provider.instance[methodName] ? (requirementOf({ ...provider, methodName }) ?? []) : [],
  );
  if (all.length === 0) return undefined;
  const scopes = [...new Set(all.flatMap(one => one.scopes))];
  return { scopes, anonymous: all.every(({ anonymous }) => anonymous) };
}

/** Runs the functions of a source as Nest runs handlers: with guards, Nest interceptors and filters, and in request scope. */
function bindSource(provider: Provider, executor: HandlerExecutor): BoundSource {
  const { instance, handlerClass } = provider;
  const where = handlerClass.name;
  const missing = (['list', 'read'] as const).find(name => typeof instance[name] !== 'function');
  if (missing)
    throw new McpBootstrapError(where, `it has @SkillSource(), so it needs the function "${missing}"`);
  const runs: Partial<Record<keyof SkillSource, RunHandler>> = {};
  for (const methodName of FUNCTIONS) {
    if (!instance[methodName]) continue;
    runs[methodName] = executor.compile({
      target: { ...provider, methodName },
      params: [],
      prepare: data => data,
      positional: (data, { context }) => [...(data as string[]), context],
    });
  }

  /** Undefined for a caller that the source refuses. */
  async function ask<T>(name: keyof SkillSource, ctx: McpContext, ...args: string[]): Promise<T | undefined> {
    const run = runs[name]!;
    const call = { data: args, context: ctx };
    try {
      if (await run.hidingGuard?.(call)) return undefined;
      return (await run(call)) as T;
    } catch (thrown) {
      if (thrown instanceof GuardDenied) return undefined;
      const { error } = toFailure(thrown, describeTarget(run.plan.target));
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  const source: BoundSource = {
    where,
    requirement: requirementOfAll(provider),
    list: async ctx => (await ask<Awaited<ReturnType<SkillSource['list']>>>('list', ctx)) ?? [],
    async get(uri, ctx) {
      if (runs.get) return ask('get', ctx, uri);
      return (await source.list(ctx)).find(skill => skill.uri === uri);
    },
    read: (uri, ctx) => ask('read', ctx, uri),
    async readDirectory(uri, ctx) {
      if (runs.readDirectory) return ask('readDirectory', ctx, uri);
      for await (const skill of skillsAround(uri, one => source.get(one, ctx))) {
        const children = childrenOf(skill, uri);
        if (children) return children;
      }
      return undefined;
    },
  };
  return source;
}
