import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Whether there is a file, and not a folder of this name. */
export const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

export const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/** The text of a file in a folder; undefined if there is none. */
export function textIn(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  return isFile(path) ? readFileSync(path, 'utf8') : undefined;
}

/**
 * The object of a JSON file in a folder; undefined without the file.
 * @throws Error that names the file, if it holds no object
 */
export function objectIn<T extends object>(folder: string, name: string): T | undefined {
  const text = textIn(folder, name);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${name} must hold an object`);
  return value as T;
}

/**
 * The `package.json` of an application.
 * @throws Error if there is none, or it holds no object
 */
export function manifestIn<T extends object>(folder: string): T {
  const manifest = objectIn<T>(folder, 'package.json');
  if (!manifest) throw new Error(`there is no package.json in ${folder}`);
  return manifest;
}
