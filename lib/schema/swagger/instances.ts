import type { Type } from '@nestjs/common';
import { isRecord } from '../../util/is-record.js';
import type { ClassPeers } from '../class-peers.js';
import { classOf, type ModelClass } from './keywords.js';
import { swaggerProperties } from './model.js';

/**
 * Makes instances of the classes that only swagger names, as class-transformer does for `@Type()`. Texts become dates
 * where swagger says so.
 */
export function withModels(instance: object, type: Type<unknown>, peers: ClassPeers): object {
  const fields = instance as Record<string, unknown>;
  for (const [name, property] of swaggerProperties(type)) {
    const model = peers.declaredType(type, name) ? undefined : classOf(property);
    if (model && fields[name] !== undefined && fields[name] !== null) {
      fields[name] = converted(fields[name], model, peers);
    }
  }
  return instance;
}

function converted(value: unknown, { type, isList }: ModelClass, peers: ClassPeers): unknown {
  if (isList && Array.isArray(value))
    return value.map(item => converted(item, { type, isList: false }, peers));
  if (type === Date) return typeof value === 'string' ? new Date(value) : value;
  return isRecord(value) ? withModels(peers.toInstance(type, value), type, peers) : value;
}
