import type { Type } from '@nestjs/common';
import type * as Transformer from 'class-transformer';
import type { MetadataStorage } from 'class-transformer/types/MetadataStorage.js';
import { reasonOf, SchemaError } from './schema.error.js';

/** The functions that we use from class-validator and class-transformer. Both packages are optional. */
export type ClassPeers = Awaited<ReturnType<typeof loadClassPeers>>;
export type ValidationRule = ReturnType<ClassPeers['rulesOf']>[number];
export type DeclaredType = NonNullable<ReturnType<ClassPeers['declaredType']>>;
export type PropertyFailure = Awaited<ReturnType<ClassPeers['validate']>>[number];

const PLAIN_TO_CLASS = 0;

/** @throws SchemaError that names the packages to install */
export async function loadClassPeers() {
  const [validator, transformer, storage] = await load();
  return {
    rulesOf: (type: Type<unknown>) =>
      validator.getMetadataStorage().getTargetValidationMetadatas(type, '', false, false),
    declaredType: (type: Type<unknown>, property: string) => {
      const metadata = storage.findTypeMetadata(type, property);
      return (
        metadata && {
          type: metadata.typeFunction?.({ newObject: {}, object: {}, property }) ?? metadata.reflectedType,
          discriminator: metadata.options.discriminator,
        }
      );
    },
    isTransformed: (type: Type<unknown>, property: string) =>
      storage.findTransformMetadatas(type, property, PLAIN_TO_CLASS).length > 0,
    /** The name from which `@Expose()` reads a property, if it sets another name. */
    exposedName: (type: Type<unknown>, property: string) => {
      const { name, toPlainOnly } = storage.findExposeMetadata(type, property)?.options ?? {};
      return toPlainOnly ? undefined : name;
    },
    toInstance: (type: Type<unknown>, plain: object) => transformer.plainToInstance(type, plain) as object,
    /** @param isWhole whether class-validator has a rule for each property, and refuses others */
    validate: (instance: object, isWhole: boolean) =>
      validator.validate(instance, {
        whitelist: isWhole,
        forbidNonWhitelisted: isWhole,
        forbidUnknownValues: isWhole,
        validationError: { target: false, value: false },
      }),
  };
}

async function load() {
  try {
    const transformer = await import('class-transformer');
    // Holds the metadata of `@Type()` and `@Expose()`, which class-transformer has no public way to read.
    let { defaultMetadataStorage: storage } = await import('class-transformer/cjs/storage.js');
    // Bundlers may choose the ES build of class-transformer, which has a storage of its own.
    if (!isStorageOf(transformer, storage))
      storage = (await import('class-transformer/esm5/storage.js')).defaultMetadataStorage;
    return [await import('class-validator'), transformer, storage] as const;
  } catch (error) {
    throw new SchemaError(
      'a class as a schema needs class-validator and class-transformer; install them with ' +
        `\`npm install class-validator class-transformer\` (${reasonOf(error)})`,
      { cause: error },
    );
  }
}

function isStorageOf({ Type }: typeof Transformer, storage: MetadataStorage): boolean {
  class Probe {}
  Type()(Probe.prototype, 'property');
  return storage.findTypeMetadata(Probe, 'property') !== undefined;
}
