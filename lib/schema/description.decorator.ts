import { addKeywords } from './keywords.js';

/**
 * Describes a property of a DTO, or the DTO itself, in the JSON Schema that a model reads before it calls.
 *
 * @publicApi
 */
export function Description(text: string): ClassDecorator & PropertyDecorator {
  return (target: object, property?: string | symbol) => addKeywords(target, property, { description: text });
}
