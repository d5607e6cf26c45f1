import { HttpException } from '@nestjs/common';
import type { AskOptions } from '../decorators/params.decorator.js';
import type { HandlerKind } from '../decorators/handler-options.js';
import { inputRequest } from '../elicitation/requests/input-request.js';
import { isKey, KEY_RULE } from '../elicitation/requests/key.js';
import { isText } from '../util/values.js';
import type { SchemaLike } from '../schema/types.js';
import type { HandlerParam } from './handler-params.js';
import { isDto } from './handler-target.js';
import type { HandlerCall } from './mcp-execution-context.js';

interface AskData extends AskOptions {
  readonly key: string;
}

const FORBIDDEN = 403;

export async function askFor(param: HandlerParam, args: unknown, { context }: HandlerCall): Promise<unknown> {
  const { key, message, onDecline } = param.data as AskData;
  const said = typeof message === 'function' ? message(args as never) : message;
  const { action, content } = await context.elicit(key, { message: said, schema: schemaOf(param) });
  if (action === 'accept') return content;
  if (onDecline === 'pass') return undefined;
  throw new HttpException(`The user ${action === 'decline' ? 'declined' : 'dismissed'} "${key}"`, FORBIDDEN);
}

/** Checks `@Ask()` parameters at start. @throws Error for an invalid key, message or form */
export async function checkAsks(params: readonly HandlerParam[], kind: HandlerKind): Promise<void> {
  const keys = new Set<string>();
  for (const param of params) {
    if (param.kind !== 'ask') continue;
    const { key, message } = param.data as AskData;
    const refuse = (problem: string, options?: ErrorOptions): never => {
      throw new Error(`@Ask(${JSON.stringify(key)})${problem}`, options);
    };
    if (kind === 'completion')
      refuse(' works only in tools, prompts and resources, because a completion cannot ask; remove it');
    if (!isKey(key)) refuse(` has an invalid key; ${KEY_RULE}`);
    if (keys.has(key)) refuse(' is on two parameters; give each its own key');
    keys.add(key);
    if (!isText(message) && typeof message !== 'function') {
      refuse(' needs a "message": a text, or a function that makes a text from the arguments');
    }
    try {
      await inputRequest.elicit({ message: key, schema: schemaOf(param) }).prepare();
    } catch (error) {
      refuse(`: ${(error as Error).message}`, { cause: error });
    }
  }
}

function schemaOf({ data, metatype }: HandlerParam): SchemaLike {
  const { key, schema = isDto(metatype) ? metatype : undefined } = data as AskData;
  if (schema) return schema;
  throw new Error(`@Ask(${JSON.stringify(key)}) needs a "schema", or a class as the type of its parameter`);
}
