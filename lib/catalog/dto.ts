import type { Type } from '@nestjs/common';

/** Types that TypeScript's metadata gives for anything that is no class of the author's. */
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

/** Whether a parameter's type is a class that an author may have decorated. */
export const isDto = (type: unknown): type is Type => !NO_CLASSES.has(type);
