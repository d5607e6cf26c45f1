import { addKeywords } from './keywords.js';

/** Describes a DTO or its property in the JSON Schema that the model reads. @publicApi */
export function Description(text: string): ClassDecorator & PropertyDecorator {
  return (target: object, property?: string | symbol) => addKeywords(target, property, { description: text });
}
