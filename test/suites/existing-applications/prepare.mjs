// Brings a copy of a public application to a version of Nest that this package supports, and builds it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NPM = ['--loglevel=error', '--legacy-peer-deps', '--no-audit', '--no-fund', '--ignore-scripts'];

const NEST_CLI = {
  sourceRoot: 'src',
  compilerOptions: {
    assets: ['i18n/**/*'],
    plugins: [{ name: '@nestjs/swagger', options: { introspectComments: true } }],
  },
};

/**
 * @param app what to change: `dependencies`, `files`, and `edits`, which are files with pairs of texts
 * @param tarball of this package
 * @returns the folder of the built copy
 */
export function prepare(checkout, { name, dependencies, files, edits = {} }, tarball) {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  const run = (command, args) =>
    execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const inFolder = file => join(folder, file);
  cpSync(checkout, folder, { recursive: true, filter: file => !/\/(?:\.git|node_modules|dist)$/.test(file) });

  for (const [file, pairs] of Object.entries(edits)) {
    const text = pairs.reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      readFileSync(inFolder(file), 'utf8'),
    );
    writeFileSync(inFolder(file), text);
  }
  writeFileSync(inFolder('nest-cli.json'), JSON.stringify(NEST_CLI));
  for (const [file, text] of Object.entries(files)) writeFileSync(inFolder(file), text);

  if (dependencies) {
    writeFileSync(inFolder('package.json'), JSON.stringify({ private: true, dependencies }));
    rmSync(inFolder('package-lock.json'), { force: true });
  }
  run('npm', ['install', ...NPM]);
  run('npm', ['install', ...NPM, '--no-save', tarball, 'sql.js@1']);
  build(folder);
  return folder;
}

/** The types of old sources do not fit new packages, so errors of types do not count: the code is emitted all the same. */
function build(folder) {
  try {
    execFileSync('npx', ['nest', 'build'], { cwd: folder, stdio: 'ignore' });
  } catch {
    readFileSync(join(folder, 'dist/mcp.js'));
  }
}
