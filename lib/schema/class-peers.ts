import type { Type } from '@nestjs/common';
import type * as Transformer from 'class-transformer';
import type { MetadataStorage } from 'class-transformer/types/MetadataStorage.js';
import type * as Validator from 'class-validator';
import { reasonOf, SchemaError } from './schema.error.js';

export interface ValidationRule {
  readonly type: string;
  readonly name?: string;
  readonly propertyName: string;
  readonly constraints?: readonly unknown[];
  readonly each?: boolean;
  readonly validateIf?: unknown;
}

export interface DeclaredType {
  readonly type: unknown;
  readonly discriminator?: {
    readonly property: string;
    readonly subTypes: readonly { readonly value: unknown; readonly name: string }[];
  };
}

export interface PropertyFailure {
  readonly property?: string;
  readonly constraints?: Readonly<Record<string, string>>;
  readonly children?: readonly PropertyFailure[];
}

/** The used parts of class-validator and class-transformer. Both are optional, so no signature names their types. */
export interface ClassPeers {
  rulesOf(type: Type<unknown>): readonly ValidationRule[];
  declaredType(type: Type<unknown>, property: string): DeclaredType | undefined;
  isTransformed(type: Type<unknown>, property: string): boolean;
  /** The name under which `@Expose()` reads a property, if it gives one. */
  exposedName(type: Type<unknown>, property: string): string | undefined;
  toInstance(type: Type<unknown>, plain: object): object;
  validate(instance: object): Promise<readonly PropertyFailure[]>;
}

const PLAIN_TO_CLASS = 0;

/** @throws SchemaError that says what to install */
export async function loadClassPeers(): Promise<ClassPeers> {
  const [validator, transformer, storage] = await load();
  return {
    rulesOf: type => validator.getMetadataStorage().getTargetValidationMetadatas(type, '', false, false),
    declaredType: (type, property) => {
      const metadata = storage.findTypeMetadata(type, property);
      return (
        metadata && {
          type: metadata.typeFunction?.({ newObject: {}, object: {}, property }) ?? metadata.reflectedType,
          discriminator: metadata.options.discriminator,
        }
      );
    },
    isTransformed: (type, property) =>
      storage.findTransformMetadatas(type, property, PLAIN_TO_CLASS).length > 0,
    exposedName: (type, property) => {
      const { name, toPlainOnly } = storage.findExposeMetadata(type, property)?.options ?? {};
      return toPlainOnly ? undefined : name;
    },
    toInstance: (type, plain) => transformer.plainToInstance(type, plain) as object,
    validate: instance =>
      validator.validate(instance, {
        whitelist: true,
        forbidNonWhitelisted: true,
        forbidUnknownValues: true,
        validationError: { target: false, value: false },
      }),
  };
}

async function load() {
  try {
    return [
      await loadModule<typeof Validator>('class-validator'),
      await loadModule<typeof Transformer>('class-transformer'),
      // `@Type()` writes here; there is no public way to read it.
      (await loadModule<{ defaultMetadataStorage: MetadataStorage }>('class-transformer/cjs/storage.js'))
        .defaultMetadataStorage,
    ] as const;
  } catch (error) {
    throw new SchemaError(
      `a class as a schema needs class-validator and class-transformer: install both (${reasonOf(error)})`,
      { cause: error },
    );
  }
}

/** In CommonJS by `require`: Jest refuses `import()` without a flag of Node. */
async function loadModule<T>(name: string): Promise<T> {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- there is none in the ES half of the build
  return (typeof require === 'function' ? require(name) : await import(name)) as T;
}
