// Checks the files for Envoy and Kubernetes of docs/snippets against the published schemas: the Protobuf files of Envoy,
// and the types that are made of the OpenAPI description of Kubernetes.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import protobuf from 'protobufjs';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';

const docs = join(import.meta.dirname, '..');
const read = name => readFileSync(join(docs, 'snippets', name), 'utf8');

const DURATION = /^\d+(\.\d+)?s$/;
const PREFIX = 'type.googleapis.com/';

/** The Protobuf files of Envoy, which the xDS client of gRPC contains. */
async function envoySchemas(files) {
  const deps = join(docs, 'node_modules/@grpc/grpc-js-xds/deps');
  const folders = ['envoy-api', 'googleapis', 'protoc-gen-validate', 'xds'].map(name => join(deps, name));
  const root = new protobuf.Root();
  root.resolvePath = (_, file) =>
    [...folders, join(docs, 'node_modules/protobufjs')]
      .map(folder => join(folder, file))
      .find(path => existsSync(path)) ?? file;
  return root.load(files, { keepCase: true });
}

/** @throws Error with the place of a field that the schema does not have, or whose value it refuses */
function assertMessage(type, value, path) {
  if (type.fullName === '.google.protobuf.Any') {
    const { '@type': name, ...message } = value;
    return assertMessage(type.root.lookupType(name.slice(PREFIX.length)), message, path);
  }
  if (type.fullName === '.google.protobuf.Duration') {
    if (!DURATION.test(value)) throw new Error(`${path}: ${value} is no duration`);
    return;
  }
  if (/^\.google\.protobuf\.\w+Value$/.test(type.fullName)) return;
  for (const [name, item] of Object.entries(value)) {
    const field = type.fields[name]?.resolve();
    const place = `${path}.${name}`;
    if (!field) throw new Error(`${place}: ${type.fullName} has no such field`);
    const items = field.repeated ? item : [item];
    if (!Array.isArray(items)) throw new Error(`${place}: must be a list`);
    for (const [index, one] of items.entries())
      assertField(field, one, field.repeated ? `${place}.${index}` : place);
  }
}

function assertField({ resolvedType, type }, value, path) {
  if (resolvedType instanceof protobuf.Type) return assertMessage(resolvedType, value, path);
  const isValid =
    resolvedType instanceof protobuf.Enum
      ? value in resolvedType.values
      : typeof value === { string: 'string', bool: 'boolean' }[type] ||
        (/int|float|double/.test(type) && Number.isFinite(value));
  if (!isValid) throw new Error(`${path}: ${JSON.stringify(value)} is no ${resolvedType?.name ?? type}`);
}

async function checkEnvoy() {
  const value = parse(read('envoy.yaml'));
  const named = JSON.stringify(value).matchAll(/"type\.googleapis\.com\/(envoy\.[\w.]+)\.\w+"/g);
  const folders = new Set(Array.from(named, ([, name]) => name.replaceAll('.', '/')));
  // A Protobuf file has the name of the folder above its version.
  const files = Array.from(folders, folder => `${folder}/${folder.split('/').at(-2)}.proto`);
  const root = await envoySchemas(['envoy/config/bootstrap/v3/bootstrap.proto', ...files]);
  assertMessage(root.lookupType('envoy.config.bootstrap.v3.Bootstrap'), value, 'envoy.yaml');
}

/** Compiles each object of the file as a literal of its type, which finds unknown properties, too. */
function checkKubernetes() {
  const objects = parseAllDocuments(read('kubernetes.yaml')).map(document => document.toJS());
  const lines = objects.map(({ apiVersion, kind, ...rest }, index) => {
    const group = apiVersion === 'v1' ? 'core/v1' : apiVersion;
    const value = JSON.stringify({ apiVersion, kind, ...rest });
    return `import type { ${kind} as Kind${index} } from 'kubernetes-types/${group}';\nexport const object${index}: Kind${index} = ${value};`;
  });
  const folder = mkdtempSync(join(docs, 'node_modules/.kubernetes-'));
  try {
    const file = join(folder, 'objects.ts');
    writeFileSync(file, lines.join('\n'));
    const program = ts.createProgram([file], { strict: true, noEmit: true, types: [], skipLibCheck: true });
    const [first] = ts.getPreEmitDiagnostics(program);
    if (first)
      throw new Error(`kubernetes.yaml: ${ts.flattenDiagnosticMessageText(first.messageText, '\n')}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

try {
  await checkEnvoy();
  checkKubernetes();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
console.log('envoy.yaml and kubernetes.yaml are as their schemas want them');
