import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Prettier from 'prettier';

type Format = (file: string, text: string) => Promise<string>;

/** The application's Prettier; without it, texts stay as they are. */
export function formatterOf(cwd: string): Format {
  let prettier: typeof Prettier;
  try {
    prettier = createRequire(join(cwd, 'package.json'))('prettier') as typeof Prettier;
  } catch {
    return (_, text) => Promise.resolve(text);
  }
  return async (filepath, text) => {
    const options = await prettier.resolveConfig(filepath, { editorconfig: true });
    return prettier.format(text, { ...options, filepath });
  };
}

/** Formats what was formatted before, and new files. */
export async function formatted(
  format: Format,
  file: string,
  before: string | undefined,
  text: string,
): Promise<string> {
  const isFormatted = before === undefined || (await format(file, before)) === before;
  return isFormatted ? format(file, text) : text;
}
