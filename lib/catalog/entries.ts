import type { CacheHint, Prompt, Resource, ResourceTemplateType, Tool } from '@modelcontextprotocol/server';
import type { CompletionOptions } from '../decorators/handler-options.js';
import type { HandlerTarget } from '../execution/handler-target.js';
import type { RunHandler } from '../execution/handler-executor.js';
import type { HeaderParam } from '../protocol/header-param.js';
import type { CompiledSchema, JsonSchema } from '../schema/types.js';
import type { Requirement } from '../protocol/permissions.js';
import type { CompiledUriTemplate } from '../protocol/uri-template.js';

interface EntryBase<K extends string> {
  readonly kind: K;
  readonly key: string;
  /** `Class.method`, for messages. */
  readonly where: string;
  /** Changes with the handler's code, so that another version of the handler does not continue a call. */
  readonly version: string;
  /** The method, for what extensions declare on it. */
  readonly target: HandlerTarget;
  readonly run: RunHandler;
  /** What a caller needs. Undefined if neither the method nor the class has a decorator for it. */
  readonly requirement?: Requirement;
}

export interface ToolEntry extends EntryBase<'tool'> {
  readonly definition: Tool;
  readonly headerParams: readonly HeaderParam[];
  readonly output?: CompiledSchema;
  /** Options that belong to extensions. */
  readonly extensionOptions: Readonly<Record<string, unknown>>;
}

export interface PromptEntry extends EntryBase<'prompt'> {
  readonly definition: Prompt;
  readonly inputJsonSchema?: JsonSchema;
}

export interface ResourceEntry extends EntryBase<'resource'> {
  readonly definition: Resource;
  readonly cache?: CacheHint;
}

export interface ResourceTemplateEntry extends EntryBase<'resource template'> {
  readonly definition: ResourceTemplateType;
  readonly template: CompiledUriTemplate;
  readonly inputJsonSchema?: JsonSchema;
  readonly cache?: CacheHint;
}

export interface CompletionEntry extends EntryBase<'completion'> {
  readonly ref: CompletionRef;
}

export interface EntryByKind {
  tool: ToolEntry;
  prompt: PromptEntry;
  resource: ResourceEntry;
  'resource template': ResourceTemplateEntry;
  completion: CompletionEntry;
}

export type Entry = EntryByKind[keyof EntryByKind];

/** Identifies an argument of a prompt or a variable of a template. */
export const completionKey = (kind: 'prompt' | 'resource template', name: string, argument: string): string =>
  JSON.stringify([kind, name, argument]);

export type CompletionRef = Pick<CompletionOptions, 'prompt' | 'resourceTemplate' | 'argument'>;

/** @throws Error unless exactly one of prompt and template is given */
export function keyOfCompletion({ prompt, resourceTemplate, argument }: CompletionRef): string {
  if ((prompt === undefined) === (resourceTemplate === undefined)) {
    throw new Error('a completion needs either "prompt" or "resourceTemplate"');
  }
  return prompt !== undefined
    ? completionKey('prompt', prompt, argument)
    : completionKey('resource template', resourceTemplate!, argument);
}
