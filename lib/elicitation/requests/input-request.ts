import {
  inputRequired,
  inputResponse,
  isSpecType,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type InputRequest,
  type InputResponseView,
  type Root,
} from '@modelcontextprotocol/server';
import type { Type } from '@nestjs/common';
import { branded } from '../../exceptions/branded.js';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import { INPUT_METHODS, type InputMethod } from '../../protocol/methods.js';
import { isText } from '../../util/values.js';
import { compileSchema } from '../../schema/compile-schema.js';
import { isRecord } from '../../util/is-record.js';
import type { CompiledSchema, JsonSchema, SchemaLike, StandardSchemaWithJSON } from '../../schema/types.js';
import { digestOf } from '../../util/digest.js';

/** An instance of the class, a Standard Schema's output, or any object. */
export type InferSchema<S> =
  S extends Type<infer T>
    ? T
    : S extends StandardSchemaWithJSON<unknown, infer Output>
      ? Output
      : Record<string, unknown>;

/** The user filled in a form, declined or dismissed it. */
export type ElicitAnswer<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline'; readonly content?: undefined }
  | { readonly action: 'cancel'; readonly content?: undefined };

/** A form for the user (specification: client/elicitation). */
export interface ElicitOptions<S extends SchemaLike = SchemaLike> {
  /** The message to the user. */
  message: string;
  /** A flat object of texts, numbers, booleans and enums, as a DTO, a Standard Schema or JSON Schema. */
  schema: S;
}

/** A page for the user to visit (specification: client/elicitation, URL mode). */
export interface ElicitUrlOptions {
  /** The explanation that the user reads before the visit. */
  message: string;
  /** The page, as an absolute URL. */
  url: string;
}

/** A message of the client's model, or the tools that the model wants to call (specification: client/sampling). */
export type SampleAnswer = CreateMessageResult | CreateMessageResultWithTools;

/** @throws TypeError for a value that is not an input request */
export function readRequest(request: InputRequest): InputRequest {
  const { method, params } = (isRecord(request) ? request : {}) as Partial<InputRequest>;
  if (INPUT_METHODS.some(known => known === method) && (isRecord(params) || method === 'roots/list'))
    return request;
  throw new TypeError(
    'a value is not an input request: use inputRequest, or { method, params } of elicitation/create, sampling/createMessage or roots/list',
  );
}

/**
 * An input request to the client. `A` is the type of the answer.
 * @example
 * ```ts
 * const request: TypedInputRequest<ElicitAnswer<RegionDto>> = inputRequest.elicit({ message: 'Where?', schema: RegionDto });
 * ```
 */
export class TypedInputRequest<A = unknown> {
  static {
    branded(this, 'TypedInputRequest');
  }

  /** Holds the type only. */
  declare readonly answer: A;

  constructor(
    readonly method: InputMethod,
    private readonly params: Readonly<Record<string, unknown>> | undefined,
    private readonly schema?: SchemaLike,
  ) {}

  /** @throws TypeError for a form that the protocol cannot express, SchemaError for an invalid schema */
  async prepare(): Promise<PreparedRequest<A>> {
    const { method, params, schema } = this;
    const form = schema && (await compileSchema(schema, 'input'));
    const prepared = form
      ? formOf(String(params?.['message']), form)
      : withFingerprint({ method, ...(params && { params }) } as InputRequest);
    const { request, fingerprint } = prepared;
    return { request, fingerprint, read: raw => readAnswer(method, raw, form) as Promise<A> };
  }
}

export interface PreparedRequest<A = unknown> {
  readonly request: InputRequest;
  /** Identifies the input request, so that consent to it is not taken for another. */
  readonly fingerprint: string;
  /** @throws McpException (-32602) for an answer that does not match the input request */
  read(raw: unknown): Promise<A>;
}

/**
 * Input requests for an `InputRequiredException` and for `ctx.askAll`. Invalid options throw a TypeError.
 * @example
 * ```ts
 * const { region, folders } = await ctx.askAll({
 *   region: inputRequest.elicit({ message: 'Where?', schema: RegionDto }),
 *   folders: inputRequest.roots(),
 * });
 * ```
 */
export const inputRequest = {
  /** A form, in the restricted schema of the protocol. */
  elicit: <const S extends SchemaLike>({
    message,
    schema,
  }: ElicitOptions<S>): TypedInputRequest<ElicitAnswer<InferSchema<S>>> => {
    if ((schema as unknown) === undefined) {
      throw new TypeError('A form needs a "schema": a class, a Standard Schema or JSON Schema');
    }
    return new TypedInputRequest('elicitation/create', { message: said(message) }, schema);
  },
  /** A page to visit. An accepted answer only means that the user agreed to visit it. */
  elicitUrl: ({ message, url }: ElicitUrlOptions): TypedInputRequest<ElicitAnswer<undefined>> =>
    new TypedInputRequest('elicitation/create', { mode: 'url', message: said(message), url: pageOf(url) }),
  /** A completion by the client's model (specification: client/sampling). */
  sample: (params: CreateMessageRequestParams): TypedInputRequest<SampleAnswer> => {
    if (!Array.isArray(params.messages)) throw new TypeError('A completion needs "messages", as a list');
    return new TypedInputRequest('sampling/createMessage', params);
  },
  /** The folders that the client works on (specification: client/roots). */
  roots: (): TypedInputRequest<readonly Root[]> => new TypedInputRequest('roots/list', undefined),
} as const;

function said(message: unknown): string {
  if (isText(message)) return message;
  throw new TypeError('An input request needs a "message" that says to the user what is asked');
}

function pageOf(url: unknown): string {
  if (typeof url === 'string' && URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol))
    return url;
  throw new TypeError('A page to visit needs a "url" that is absolute, with http or https');
}

type Fingerprinted = Pick<PreparedRequest, 'request' | 'fingerprint'>;

const withFingerprint = (request: InputRequest): Fingerprinted => ({
  request,
  fingerprint: digestOf(request).slice(0, 22),
});

interface Form {
  readonly params: InputRequest['params'];
  /** The last message, and the fingerprint with it. Most forms always have the same message. */
  readonly message: string;
  readonly fingerprint: string;
}

const forms = new WeakMap<CompiledSchema, Form>();

function formOf(message: string, compiled: CompiledSchema): Fingerprinted {
  const known = forms.get(compiled);
  const params = known?.params ?? convert(compiled);
  const request = { method: 'elicitation/create', params: { ...params, message } } as InputRequest;
  if (known?.message === message) return { request, fingerprint: known.fingerprint };
  const form = withFingerprint(request);
  forms.set(compiled, { params, message, fingerprint: form.fingerprint });
  return form;
}

function convert({ jsonSchema }: CompiledSchema): InputRequest['params'] {
  // Forms of the protocol cannot have this keyword.
  const { additionalProperties: _, ...form } = jsonSchema;
  const requestedSchema = {
    '~standard': {
      version: 1 as const,
      vendor: 'nestjs-mcp',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: (): JsonSchema => form, output: (): JsonSchema => form },
    },
  };
  return inputRequired.elicit({ message: '', requestedSchema: requestedSchema }).params;
}

export async function readAnswer(
  method: InputMethod,
  raw: unknown,
  form: CompiledSchema | undefined,
): Promise<unknown> {
  const view = readKind(method, raw);
  if (view.kind === 'sampling') return view.result;
  if (view.kind === 'roots') return view.roots;
  if (view.action !== 'accept') return { action: view.action };
  if (!form) return { action: 'accept' };
  const result = await form.validate(view.content ?? {});
  if (result.ok) return { action: 'accept', content: result.value };
  const breaches = result.issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  throw malformed(`the form is not filled in as asked: ${breaches.join('; ')}`);
}

/** Checks the kind of an answer, but not the content of a form. @throws McpException (-32602) */
export function readKind(method: InputMethod, raw: unknown): Exclude<InputResponseView, { kind: 'missing' }> {
  const view = inputResponse({ raw }, 'raw');
  if (view.kind === 'elicit' && method === 'elicitation/create') return view;
  if (view.kind === 'sampling' && method === 'sampling/createMessage' && isSample(raw)) return view;
  if (view.kind === 'roots' && method === 'roots/list' && isSpecType.ListRootsResult(raw)) return view;
  throw malformed(`it is not an answer to ${method}`);
}

const isSample = (raw: unknown): boolean =>
  isSpecType.CreateMessageResult(raw) || isSpecType.CreateMessageResultWithTools(raw);

const malformed = (why: string): McpException =>
  new McpException(McpErrorCode.InvalidParams, `An answer cannot be used: ${why}`);
