// Checks deploy/envoy.yaml against the Protobuf files of Envoy.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import protobuf from 'protobufjs';
import { parse } from 'yaml';

const docs = join(import.meta.dirname, '..');
const file = join(docs, '../deploy/envoy.yaml');

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
  const value = parse(readFileSync(file, 'utf8'));
  const named = JSON.stringify(value).matchAll(/"type\.googleapis\.com\/(envoy\.[\w.]+)\.\w+"/g);
  const folders = new Set(Array.from(named, ([, name]) => name.replaceAll('.', '/')));
  // A Protobuf file has the name of the folder above its version.
  const files = Array.from(folders, folder => `${folder}/${folder.split('/').at(-2)}.proto`);
  const root = await envoySchemas(['envoy/config/bootstrap/v3/bootstrap.proto', ...files]);
  assertMessage(root.lookupType('envoy.config.bootstrap.v3.Bootstrap'), value, 'envoy.yaml');
}

try {
  await checkEnvoy();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
console.log('envoy.yaml is as its schema wants it');
