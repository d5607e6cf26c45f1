import type { ExtensionMethodEntry } from '../../catalog/extension-method.js';
import { ApplicationExtension } from '../../module/application-extension.js';
import type { Era } from '../../protocol/mcp-call.js';
import type { OwnMethod, Stages } from '../../protocol/server-extension.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { MethodStage } from '../api.js';

export interface ExtendedMethod {
  readonly name: string;
  readonly own: OwnMethod;
  /** Undefined if the package itself answers it. */
  readonly entry?: ExtensionMethodEntry;
}

const PLACES: readonly (keyof Stages)[] = ['admit', 'intercept', 'answer', 'check'];

const applicationsOf = ({ extensions }: McpServerInstance): ApplicationExtension[] =>
  extensions.all.filter(one => one instanceof ApplicationExtension);

export function methodsOf(server: McpServerInstance): ExtendedMethod[] {
  const entries = new Map(applicationsOf(server).flatMap(one => [...one.entries]));
  return Array.from(server.ownMethods, ([name, own]) => ({ name, own, entry: entries.get(name) }));
}

export const isIn = ({ own: { eras } }: ExtendedMethod, era: Era): boolean => !eras || eras.includes(era);

/** The stages of the application's extensions, by method, in running order. */
export function stagesOf(server: McpServerInstance): MethodStage[] {
  const found = new Map<string, MethodStage>();
  const composed = applicationsOf(server).flatMap(({ where, composed: own }) =>
    own.map(one => ({ ...one, extension: where })),
  );
  for (const place of PLACES) {
    for (const { method, era, stages, extension } of composed) {
      if (!stages[place] || !(server.serves(method, era) || method === 'subscriptions/listen')) continue;
      const key = `${method} ${place} ${extension}`;
      found.set(key, { method, place, extension, eras: [...(found.get(key)?.eras ?? []), era] });
    }
  }
  return [...found.values()].sort((a, b) => a.method.localeCompare(b.method));
}
