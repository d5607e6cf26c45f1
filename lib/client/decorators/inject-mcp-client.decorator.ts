import { Inject } from '@nestjs/common';
import { tokenOf, want } from '../tokens.js';

/** Injects the `McpClient` of that name. The start fails if no `register` or `registerAsync` provides it. */
export const InjectMcpClient =
  (name: string): ParameterDecorator & PropertyDecorator =>
  (target: object, key: string | symbol | undefined, index?: number) => {
    // The class itself for a constructor's parameter, its prototype for a property.
    want(name, typeof target === 'function' ? target : target.constructor);
    (Inject(tokenOf(name)) as (target: object, key?: string | symbol, index?: number) => void)(
      target,
      key,
      index,
    );
  };
