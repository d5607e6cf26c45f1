// Fails when the package's declarations need what its users may not have: from every entry of "exports" it follows the
// relative imports of the .d.ts files, and allows the dependencies, the required peers and Node's own modules.
// Usage, after a build: node tools/check-public-types.mjs [package folder]
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import process from 'node:process';
import ts from 'typescript';

/** Optional peers that an entry is there for. */
const ALLOWED_OPTIONAL_PEERS = {
  './client': ['@modelcontextprotocol/client'],
  './gateway': ['@modelcontextprotocol/client'],
  './testing': ['@modelcontextprotocol/client'],
};

const root = resolve(process.argv[2] ?? '.');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const peers = Object.keys(manifest.peerDependencies ?? {});
const optionalPeers = peers.filter(name => manifest.peerDependenciesMeta?.[name]?.optional);
const installed = [...Object.keys(manifest.dependencies ?? {}), ...peers];

/** The files that `target` of an entry leads to, under whatever conditions. */
function filesOf(target) {
  return typeof target === 'string' ? [target] : Object.values(target ?? {}).flatMap(filesOf);
}

function declarationOf(file, specifier) {
  return resolve(dirname(file), specifier).replace(/\.([cm]?)js$/, '.d.$1ts');
}

function importsOf(file) {
  const { importedFiles, typeReferenceDirectives } = ts.preProcessFile(readFileSync(file, 'utf8'));
  return [
    ...importedFiles.map(({ fileName }) => fileName),
    ...typeReferenceDirectives.map(({ fileName }) => fileName),
  ];
}

function complaint(entry, specifier) {
  if (isBuiltin(specifier) || specifier === 'node') return undefined;
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  if (!installed.includes(name)) return `${name}, which is neither a dependency nor a peer`;
  if (optionalPeers.includes(name) && !ALLOWED_OPTIONAL_PEERS[entry]?.includes(name))
    return `the optional peer ${name}`;
  return undefined;
}

const offences = new Set();
const fields = ['main', 'module', 'types']
  .filter(field => manifest[field])
  .map(field => [field, manifest[field]]);
for (const [entry, target] of [...fields, ...Object.entries(manifest.exports)]) {
  const files = filesOf(target).map(file => join(root, file));
  for (const file of files) {
    if (!existsSync(file)) offences.add(`"${entry}": ${relative(root, file)} does not exist`);
  }

  const visited = new Set();
  const queue = files.filter(file => /\.d\.[cm]?ts$/.test(file) && existsSync(file));
  for (let file = queue.pop(); file; file = queue.pop()) {
    if (visited.has(file)) continue;
    visited.add(file);
    for (const specifier of importsOf(file)) {
      const where = `"${entry}": ${relative(root, file)} imports`;
      if (!specifier.startsWith('.')) {
        const why = complaint(entry, specifier);
        if (why) offences.add(`${where} ${why}`);
      } else if (existsSync(declarationOf(file, specifier))) queue.push(declarationOf(file, specifier));
      else offences.add(`${where} ${specifier}, which has no declaration`);
    }
  }
}

for (const offence of offences) console.error(offence);
process.exitCode = offences.size > 0 ? 1 : 0;
