import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Type } from '@nestjs/common';
import { McpSkillsModule, type McpSkillsOptions } from 'nestjs-mcp/skills';
import type { TestClient } from 'nestjs-mcp/testing';
import { z } from 'zod';
import { startApp, type TestAppOptions } from '../fixtures/matrix.js';

/** A `SKILL.md`. @param more lines of its head */
export const head = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: About ${name}\n${more}---\n# ${name}\n`;

/** What the tests write is in it. */
export const root = mkdtempSync(join(tmpdir(), 'skills-'));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;

/** A folder with these files. */
export function folderOf(files: Record<string, string | Buffer>): string {
  const folder = join(root, String((folders += 1)));
  mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export const start = (options: McpSkillsOptions, more: TestAppOptions = {}, providers: Type[] = []) =>
  startApp(providers, {
    ...more,
    module: { imports: [McpSkillsModule.forRoot(options), ...(more.module?.imports ?? [])] },
  });

export const request = (client: TestClient, method: string, params: Record<string, unknown> = {}) =>
  client.request({ method, params }, z.looseObject({})) as Promise<Record<string, unknown>>;

export const urisOf = (all: unknown): string[] => (all as { uri: string }[]).map(({ uri }) => uri);
