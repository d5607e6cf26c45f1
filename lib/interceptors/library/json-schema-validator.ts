import type { Type } from '@nestjs/common';
import { Validator } from '../decorators/interceptor.decorators.js';
import { listOf, OBJECT, objectOf, omit, oneOf, TEXT } from '../../options/option-schema.js';
import { compileJsonSchema } from '../../schema/json-schema-compiler.js';
import type { CompiledSchema, JsonSchema } from '../../schema/types.js';
import { allow, deny, type Denial, type InterceptorInvocation, type ValidatorReturn } from '../authoring.js';
import type { InterceptionEvent } from '../payloads.js';
import type { Phase } from '../protocol/types.js';
import { aboutAny } from '../protocol/subject.js';
import { READY_MADE_VALIDATOR, readyMade, type ReadyMadeValidatorOptions } from './ready-made.js';

export interface JsonSchemaRule {
  /** Default: `tools/call`. */
  readonly event?: InterceptionEvent;
  /**
   * Name of the tool or prompt, or URI of the resource; `*` stands for any characters. If the name belonging to a
   * result is unknown, as in `interceptor/invoke`, the validator fails. Default: all.
   */
  readonly target?: string;
  /** Default: `request`. */
  readonly phase?: Phase;
  /** JSON Schema 2020-12, or draft-07 if its `$schema` says so. */
  readonly schema: JsonSchema;
  /**
   * The part of the payload that the schema describes: a property's name, or `''` for the whole payload. Default:
   * `arguments` for requests of `tools/call` and `prompts/get`, `structuredContent` for results of `tools/call`,
   * otherwise the whole payload.
   */
  readonly part?: string;
}

/** Options of `JsonSchemaValidator`. Defaults: name `json-schema-validator`, `final`. */
export interface JsonSchemaValidatorOptions extends Omit<
  ReadyMadeValidatorOptions,
  'events' | 'phase' | 'hooks'
> {
  /** The rules. All rules that match a message apply to it. */
  readonly rules: readonly JsonSchemaRule[];
}

/** The provider that `JsonSchemaValidator` creates. */
export interface JsonSchemaValidatorInterceptor {
  check(invocation: InterceptorInvocation): Promise<ValidatorReturn>;
}

export const RULE = objectOf<JsonSchemaRule>(
  {
    event: TEXT,
    target: TEXT,
    phase: oneOf('request', 'response'),
    schema: { ...OBJECT, description: 'a JSON Schema' },
    part: { type: 'string' },
  },
  { required: ['schema'] },
);

export const JSON_SCHEMA_VALIDATOR = objectOf<JsonSchemaValidatorOptions>(
  {
    rules: listOf(RULE, 'a list of { event, target, phase, schema, part }, with at least one', 1),
    ...omit(READY_MADE_VALIDATOR, 'events', 'phase', 'hooks'),
  },
  { required: ['rules'] },
);

type Json = Readonly<Record<string, unknown>>;
type CompiledRule = Required<Pick<JsonSchemaRule, 'event' | 'phase' | 'part'>> & {
  readonly isAbout: (invocation: InterceptorInvocation) => boolean;
  readonly compiled: CompiledSchema;
};

/**
 * A validator that checks arguments, results or whole payloads by JSON Schema. It skips tool errors and input requests.
 *
 * @throws SchemaError for a wrong schema, TypeError for an unknown or wrong option
 * @example
 * ```ts
 * providers: [JsonSchemaValidator({ rules: [{ target: 'search', schema: { required: ['query'] } }] })]
 * ```
 */
export function JsonSchemaValidator(
  options: JsonSchemaValidatorOptions,
): Type<JsonSchemaValidatorInterceptor> {
  const defaults = { name: 'json-schema-validator', final: true };
  const { declared: common, provider } = readyMade(
    'JsonSchemaValidator',
    JSON_SCHEMA_VALIDATOR,
    options,
    defaults,
  );
  const rules = options.rules.map(compileRule);
  const hooks = rules.map(({ event, phase }) => ({ events: [event], phase }));
  const declared = { ...common, hooks };

  class SchemaValidator implements JsonSchemaValidatorInterceptor {
    @Validator(declared)
    async check(invocation: InterceptorInvocation): Promise<ValidatorReturn> {
      const denials = await Promise.all(
        rules.filter(rule => isFor(rule, invocation)).map(rule => breaches(rule, invocation.payload)),
      );
      return denials.flat().length > 0 ? denials.flat() : allow();
    }
  }
  return provider(SchemaValidator);
}

function compileRule(rule: JsonSchemaRule): CompiledRule {
  const { event = 'tools/call', phase = 'request', target, schema } = rule;
  const part = rule.part ?? PARTS[`${event} ${phase}`] ?? '';
  const isAbout = target === undefined ? () => true : aboutAny([target]);
  // Compiled as an output schema, because an input schema must describe an object, but a part of a payload may be
  // anything.
  return { event, phase, isAbout, part, compiled: compileJsonSchema(schema, 'output') };
}

const PARTS: Readonly<Record<string, string | undefined>> = {
  'tools/call request': 'arguments',
  'prompts/get request': 'arguments',
  'tools/call response': 'structuredContent',
};

function isFor(rule: CompiledRule, invocation: InterceptorInvocation): boolean {
  const { event, phase, payload } = invocation;
  if (rule.event !== event || rule.phase !== phase) return false;
  const result = payload as Json | null;
  if (phase === 'response' && (result?.isError === true || result?.resultType === 'input_required'))
    return false;
  return rule.isAbout(invocation);
}

async function breaches({ part, compiled }: CompiledRule, payload: unknown): Promise<Denial[]> {
  const whole = (payload ?? {}) as Json;
  const value = part === '' ? payload : part === 'arguments' ? (whole.arguments ?? {}) : whole[part];
  const result = await compiled.validate(value);
  return result.ok ? [] : result.issues.map(({ path, message }) => deny(message, { path: join(part, path) }));
}

const join = (part: string, path: string): string =>
  part === '' || path === '' ? part || path : path.startsWith('[') ? part + path : `${part}.${path}`;
