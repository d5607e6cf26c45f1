import type { INestApplication } from '@nestjs/common';
import type { Tool } from '@modelcontextprotocol/client';
import { isRecord } from '../util/is-record.js';
import { createTestClient, type TestClientOptions } from './create-test-client.js';

/** Characters of JSON for a token of a model, as an estimate for English text and schemas. */
const CHARACTERS_PER_TOKEN = 4;

/** What a model pays for a tool in each conversation. */
export interface ToolCost {
  readonly name: string;
  /** Length of the name, the description and the input schema as JSON. */
  readonly characters: number;
  /** An estimate: each model counts in its own way. */
  readonly tokens: number;
}

/** The tools that a caller sees, and what they cost. */
export interface ToolSurface {
  /** The most expensive first. */
  readonly tools: readonly ToolCost[];
  readonly characters: number;
  readonly tokens: number;
  /** What models see of the tools, by name and with sorted keys: compare it with a file or a snapshot. */
  readonly text: string;
}

/**
 * Lists the tools of an application, or of the endpoint at a URL, as a caller sees them: for a test that shows a renamed tool
 * or a changed schema in review, and for their cost.
 * @param options as of `createTestClient`: `headers` choose the caller, `path` the endpoint
 * @throws Error as `createTestClient`
 * @example
 * ```ts
 * const surface = await toolSurface(app);
 * expect(surface.text).toMatchSnapshot();
 * expect(surface.tokens).toBeLessThan(5000);
 * ```
 */
export async function toolSurface(
  app: INestApplication | URL,
  options?: Pick<TestClientOptions, 'era' | 'server' | 'path' | 'headers'>,
): Promise<ToolSurface> {
  const client = await createTestClient(app, options);
  const all = await client.listTools().finally(() => client.close());
  const listed = [...all.tools].sort((one, other) => (one.name < other.name ? -1 : 1));
  const tools = listed.map(costOf).sort((one, other) => other.characters - one.characters);
  const characters = tools.reduce((sum, tool) => sum + tool.characters, 0);
  return { tools, characters, tokens: tokensOf(characters), text: listed.map(textOf).join('\n') };
}

const tokensOf = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);

function costOf({ name, description, inputSchema }: Tool): ToolCost {
  const { length } = JSON.stringify({ name, description, inputSchema });
  return { name, characters: length, tokens: tokensOf(length) };
}

function textOf({ name, title, description, annotations, inputSchema, outputSchema }: Tool): string {
  const parts = { title, description, annotations, input: inputSchema, output: outputSchema };
  const lines = Object.entries(parts).flatMap(([key, value]) =>
    value === undefined ? [] : `  ${key}: ${JSON.stringify(sorted(value))}\n`,
  );
  return `${name}\n${lines.join('')}`;
}

/** The same value with sorted keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, child]) => [key, sorted(child)]));
}
