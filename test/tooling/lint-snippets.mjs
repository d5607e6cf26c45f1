// Lints the snippets on standard input, `[path, code][]`, and prints the rules that each of them breaks, `string[][]`.
// A process of its own, because Jest's module loader cannot load ESLint's configuration.
import { text } from 'node:stream/consumers';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

// The snippets are in no TypeScript project.
const eslint = new ESLint({ overrideConfig: tseslint.configs.disableTypeChecked });
const broken = JSON.parse(await text(process.stdin)).map(async ([filePath, code]) => {
  const [result] = await eslint.lintText(code, { filePath });
  return result.messages.map(({ ruleId, message }) => ruleId ?? message);
});
console.log(JSON.stringify(await Promise.all(broken)));
