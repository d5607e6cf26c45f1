import type { Type } from '@nestjs/common';

/** TypeScript's metadata for types that are not an author's class. */
const NO_CLASSES = new Set<unknown>([
  undefined,
  Object,
  Array,
  Function,
  Promise,
  Map,
  Set,
  Symbol,
  BigInt,
  Date,
  String,
  Number,
  Boolean,
]);

export const isDto = (type: unknown): type is Type => !NO_CLASSES.has(type);
