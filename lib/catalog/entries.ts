import type { CacheHint, Prompt, Resource, ResourceTemplateType, Tool } from '@modelcontextprotocol/server';
import type { CompletionOptions } from '../decorators/handler-options.js';
import type { RunHandler } from '../execution/handler-executor.js';
import type { HeaderParam } from '../headers/header-params.js';
import type { CompiledSchema, JsonSchema } from '../schema/types.js';
import type { CompiledUriTemplate } from '../protocol/uri-template.js';

interface EntryBase {
  /** `Class.method`, for messages. */
  readonly where: string;
  /** Changes with the handler's own code: what was asked by another version cannot be gone on with. */
  readonly version: string;
  readonly run: RunHandler;
}

/** A tool, ready to be listed and called. */
export interface ToolEntry extends EntryBase {
  readonly kind: 'tool';
  readonly key: string;
  readonly definition: Tool;
  /** The arguments that clients repeat in HTTP headers. */
  readonly headerParams: readonly HeaderParam[];
  readonly output?: CompiledSchema;
}

/** A prompt, ready to be listed and got. */
export interface PromptEntry extends EntryBase {
  readonly kind: 'prompt';
  readonly key: string;
  readonly definition: Prompt;
  readonly inputJsonSchema?: JsonSchema;
}

/** A resource with a fixed URI (its key). */
export interface ResourceEntry extends EntryBase {
  readonly kind: 'resource';
  readonly key: string;
  readonly definition: Resource;
  readonly cache?: CacheHint;
}

/** A resource template (its key: the template). */
export interface ResourceTemplateEntry extends EntryBase {
  readonly kind: 'resource template';
  readonly key: string;
  readonly definition: ResourceTemplateType;
  readonly template: CompiledUriTemplate;
  readonly inputJsonSchema?: JsonSchema;
  readonly cache?: CacheHint;
}

/** What completes one argument (its key: see `completionKey`). */
export interface CompletionEntry extends EntryBase {
  readonly kind: 'completion';
  readonly key: string;
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

/** The key of a completion: which prompt or template, and which of its arguments. */
export const completionKey = (kind: 'prompt' | 'resource template', name: string, argument: string): string =>
  JSON.stringify([kind, name, argument]);

/** What a completion completes: an argument of a prompt, or a variable of a template. */
export type CompletionRef = Pick<CompletionOptions, 'prompt' | 'resourceTemplate' | 'argument'>;

/** @throws Error for a reference to neither a prompt nor a template, or to both */
export function keyOfCompletion({ prompt, resourceTemplate, argument }: CompletionRef): string {
  if ((prompt === undefined) === (resourceTemplate === undefined)) {
    throw new Error('a completion needs either "prompt" or "resourceTemplate"');
  }
  return prompt !== undefined
    ? completionKey('prompt', prompt, argument)
    : completionKey('resource template', resourceTemplate!, argument);
}
