import type { Type } from '@nestjs/common';
import type { ClassPeers, DeclaredType } from './class-peers.js';
import {
  type ClassProperty,
  isConditional,
  isNested,
  isTypedBySwagger,
  isRequired,
  propertySchema,
  reflectedType,
  shapeOf,
  type PropertyShape,
  type Shapes,
} from './class-property.js';
import { isScalar, type Keywords } from './class-rules.js';
import { freeKey } from './json-schema.js';
import { keywordsOf, headerProperties } from './keywords.js';
import { reasonOf, SchemaError } from './schema.error.js';
import { contradictionOf } from './swagger/contradictions.js';
import type { References } from './swagger/keywords.js';
import { extraModels, swaggerClass, swaggerProperties } from './swagger/model.js';
import type { SchemaIo } from './types.js';

interface Tag {
  readonly property: string;
  readonly value: string;
}

interface Definition {
  readonly type: Type<unknown>;
  readonly tag: Tag | undefined;
  readonly key: string;
  schema: Keywords;
}

/** Converts a class and its nested classes to one JSON Schema. Classes are compared by identity, not by name. */
export class ClassConverter {
  private readonly definitions: Definition[] = [];
  private readonly shapes = new Map<unknown, PropertyShape[]>();
  private readonly inlined = new Set<Type<unknown>>();
  private readonly models = new Map<string, Type<unknown>>();
  private readonly references: References = {
    of: type => this.reference(type),
    named: name => this.models.get(name),
  };
  /** Whether swagger alone gives the type of a property of these classes. */
  hasRest = false;
  /** Where swagger and class-validator contradict each other. */
  readonly contradictions: string[] = [];

  constructor(
    private readonly root: Type<unknown>,
    private readonly peers: ClassPeers,
    private readonly io: SchemaIo,
    /** Whether the schema only limits what class-validator does not check. */
    private readonly isRest = false,
  ) {}

  convert(): { schema: Keywords; shapes: Shapes } {
    const schema = this.objectSchema(this.root);
    const definitions = this.definitions.map(({ key, schema }) => [key, schema] as const);
    if (definitions.length > 0) schema.$defs = Object.fromEntries(definitions);
    return { schema, shapes: this.shapes };
  }

  private objectSchema(type: Type<unknown>, tag?: Tag): Keywords {
    const properties = this.propertiesOf(type);
    assertHeadersKnown(type, properties);
    this.assertHeadersReached(type, properties);
    const initial = initialValues(type, properties);
    this.hasRest ||= properties.some(isTypedBySwagger);
    const schemas = properties.map(property => {
      const { name } = property;
      const schema = this.propertySchema(property);
      const contradiction = contradictionOf(property, schema, initial[name] !== undefined, this.references);
      if (contradiction !== undefined) this.contradictions.push(`${type.name}: ${contradiction}`);
      return [name, isScalar(initial[name]) ? { ...schema, default: initial[name] } : schema] as const;
    });
    this.shapes.set(type, properties.map(shapeOf));
    // A client may omit a property with an initial value, but a result always has it.
    const isGiven = ({ name }: ClassProperty) => this.io === 'input' && initial[name] !== undefined;
    const isAsked = (property: ClassProperty) => !this.isRest || isTypedBySwagger(property);
    const asked = properties.filter(
      property => isRequired(property) && !isGiven(property) && isAsked(property),
    );
    const required = new Set(asked.map(({ name }) => name));
    if (tag) required.add(tag.property);
    return {
      type: 'object',
      ...swaggerClass(type),
      ...keywordsOf(type, undefined),
      properties: Object.fromEntries(tag ? [...schemas, [tag.property, { const: tag.value }]] : schemas),
      ...(required.size > 0 && { required: [...required] }),
      additionalProperties: false,
    };
  }

  private propertySchema(property: ClassProperty): Keywords {
    const schema = propertySchema(
      property,
      () => this.nestedSchema(property),
      this.peers,
      this.io,
      this.references,
    );
    if (!this.isRest) return schema;
    const nullable = { anyOf: [{ type: 'null' }, schema] };
    if (isTypedBySwagger(property)) return isConditional(property) ? nullable : schema;
    // The nested classes of the property may have properties that class-validator does not check.
    return isNested(property) && schema.type !== 'string' ? nullable : {};
  }

  private propertiesOf(type: Type<unknown>): ClassProperty[] {
    for (const model of extraModels(type)) this.models.set(model.name, model);
    const properties = new Map<string, ClassProperty & { rules: ClassProperty['rules'][number][] }>();
    for (const rule of this.peers.rulesOf(type)) {
      const name = rule.propertyName;
      const known = properties.get(name);
      if (known) known.rules.push(rule);
      else properties.set(name, { owner: type, name, rules: [rule] });
    }
    for (const [name, swagger] of swaggerProperties(type)) {
      properties.set(name, { owner: type, name, rules: [], ...properties.get(name), swagger });
    }
    if (properties.size > 0) return [...properties.values()];
    throw new SchemaError(
      `the class ${type.name} has no decorators of class-validator or @nestjs/swagger: add some, or use another kind of schema`,
    );
  }

  /**
   * Refuses a header property with another exposed name: clients use the name in the schema, class-transformer the
   * exposed name.
   */
  private assertHeadersReached(type: Type<unknown>, properties: readonly ClassProperty[]): void {
    const declared = new Set(headerProperties(type.prototype as object));
    for (const property of properties) {
      const { name } = property;
      const exposed = this.peers.exposedName(type, name);
      if (exposed === undefined || exposed === name) continue;
      const given = `@Expose({ name: ${JSON.stringify(exposed)} })`;
      const remedy = `call the property ${JSON.stringify(exposed)}, or add "toPlainOnly"`;
      if (declared.has(name)) {
        throw new SchemaError(`${type.name}.${name} has @McpHeader() and ${given}: ${remedy}`);
      }
      if (this.leadsToHeaders(property)) {
        throw new SchemaError(`${type.name}.${name} leads to @McpHeader() and has ${given}: ${remedy}`);
      }
    }
  }

  private nestedSchema({ owner, name }: ClassProperty): Keywords {
    const declared = this.peers.declaredType(owner, name);
    if (declared?.discriminator) return this.unionSchema(declared.discriminator);

    const type = this.nestedClass({ owner, name });
    if (isClass(type)) return this.hasHeaders(type) ? this.inline(type) : this.reference(type);
    if (this.peers.isTransformed(owner, name)) return { type: 'object' };
    throw new SchemaError(
      `${owner.name}.${name} has @ValidateNested(), but its class is unknown: add @Type() of class-transformer`,
    );
  }

  private nestedClass({ owner, name }: Pick<ClassProperty, 'owner' | 'name'>): unknown {
    const declared = this.peers.declaredType(owner, name)?.type;
    return declared ?? (this.peers.isTransformed(owner, name) ? reflectedType(owner, name) : undefined);
  }

  /** Clients do not look for header parameters behind a `$ref`, so a class with them is converted inline. */
  private hasHeaders(type: Type<unknown>, seen = new Set<unknown>()): boolean {
    if (seen.has(type)) return false;
    seen.add(type);
    if (headerProperties(type.prototype as object).length > 0) return true;
    return this.propertiesOf(type).some(property => this.leadsToHeaders(property, seen));
  }

  private leadsToHeaders(property: ClassProperty, seen?: Set<unknown>): boolean {
    const nested = isNested(property) && this.nestedClass(property);
    return isClass(nested) && this.hasHeaders(nested, seen);
  }

  private inline(type: Type<unknown>): Keywords {
    if (type === this.root || this.inlined.has(type)) return this.reference(type);
    this.inlined.add(type);
    const schema = this.objectSchema(type);
    this.inlined.delete(type);
    return schema;
  }

  private unionSchema({ property, subTypes }: NonNullable<DeclaredType['discriminator']>): Keywords {
    return {
      type: 'object',
      anyOf: subTypes.map(({ value, name }) =>
        this.reference(value as Type<unknown>, { property, value: name }),
      ),
    };
  }

  private reference(type: Type<unknown>, tag?: Tag): Keywords {
    if (type === this.root && !tag) return objectAt('#');
    let definition = this.definitions.find(
      known =>
        known.type === type && known.tag?.property === tag?.property && known.tag?.value === tag?.value,
    );
    if (!definition) {
      definition = { type, tag, key: this.keyFor(type.name), schema: {} };
      this.definitions.push(definition); // before its properties, which may lead back to it
      definition.schema = this.objectSchema(type, tag);
    }
    return objectAt(`#/$defs/${definition.key}`);
  }

  private keyFor(name: string): string {
    const base = name.replaceAll(/\W/g, '_') || 'Anonymous';
    return freeKey(base, key => this.definitions.some(definition => definition.key === key));
  }
}

/** Clients that do not follow `$ref` send a text for a property without a type. */
const objectAt = ($ref: string): Keywords => ({ type: 'object', $ref });

function isClass(type: unknown): type is Type<unknown> {
  return typeof type === 'function' && type !== Object && type !== Array;
}

/** Refuses a header on a property without a schema, which would be silently ignored. */
function assertHeadersKnown(type: Type<unknown>, properties: readonly ClassProperty[]): void {
  const names = new Set<string | symbol>(properties.map(({ name }) => name));
  const stray = headerProperties(type.prototype as object).find(property => !names.has(property));
  if (stray === undefined) return;
  throw new SchemaError(
    `${type.name}.${String(stray)} has @McpHeader(), but no class-validator decorator: add one, such as @IsString()`,
  );
}

/** The initial values of a class. class-transformer calls the constructor in the same way. */
function initialValues(type: Type<unknown>, properties: readonly ClassProperty[]): Record<string, unknown> {
  let instance: Record<string, unknown>;
  try {
    instance = new type() as Record<string, unknown>;
  } catch (error) {
    throw new SchemaError(
      `new ${type.name}() throws (${reasonOf(error)}): a schema class needs a constructor without arguments`,
      { cause: error },
    );
  }
  const names = new Set(properties.map(({ name }) => name));
  const stray = Object.keys(instance).find(key => !names.has(key));
  // Where swagger describes properties, class-validator does not refuse others.
  if (stray === undefined || properties.some(isTypedBySwagger)) return instance;
  // With `useDefineForClassFields`, the default since ES2022, a declaration alone creates the property.
  throw new SchemaError(
    `${type.name}.${stray} has no class-validator decorator, so that every instance is invalid: add @Allow()`,
  );
}
