import { addKeywords } from './keywords.js';

/**
 * Describes a property of a DTO, or the DTO itself, in its JSON Schema: what a model reads before it fills it in.
 *
 * @publicApi
 */
export function Description(text: string): ClassDecorator & PropertyDecorator {
  return (target: object, property?: string | symbol) => addKeywords(target, property, { description: text });
}
