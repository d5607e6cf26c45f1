import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { McpCall, Params } from '../../protocol/mcp-call.js';
import { METHODS } from '../../protocol/methods.js';
import { callerOf } from '../../protocol/caller.js';
import { digestOf } from '../../util/digest.js';
import type { MrtrSettings } from '../mrtr-options.js';
import { InvalidStateError, StateCodec } from './state-codec.js';

export { InvalidStateError };

interface Key {
  readonly codec: StateCodec;
  readonly cipherKey: Buffer;
}

/** Compressing a shorter state would not make it smaller. */
const COMPRESS_FROM = 512;
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals a call's memory into the `requestState` that its client carries, and opens it again. `StateCodec`
 * signs it, limits its lifetime and binds it to a call. This class adds key rotation, encryption, compression, a store
 * and single use.
 */
export class RequestState {
  private readonly keys: readonly Key[];

  constructor(
    private readonly settings: Pick<
      MrtrSettings,
      'secrets' | 'ttlSeconds' | 'encrypt' | 'maxStateBytes' | 'maxJournalBytes' | 'store' | 'singleUse'
    >,
  ) {
    const { secrets, ttlSeconds } = settings;
    this.keys = (secrets.length > 0 ? secrets : [randomBytes(32)]).map(secret => ({
      codec: new StateCodec(derive(secret, 'sign'), ttlSeconds),
      cipherKey: derive(secret, 'encrypt'),
    }));
  }

  write(value: unknown): string {
    const { maxJournalBytes } = this.settings;
    const json = JSON.stringify(value);
    const bytes = Buffer.byteLength(json);
    if (bytes <= maxJournalBytes) return json;
    throw new Error(
      `the call remembers ${bytes} bytes, more than "mrtr.maxJournalBytes" (${maxJournalBytes}) allows: keep large values elsewhere and remember their keys`,
    );
  }

  /**
   * @param binding the state opens only with the same binding
   * @throws Error for a state that is too large, and errors of the store
   */
  async seal(value: unknown, binding: string): Promise<string> {
    const { maxStateBytes, singleUse } = this.settings;
    const [{ codec }] = this.keys;
    const prefix = singleUse ? `${randomUUID()}:` : ':';
    const packed = this.pack(this.write(value));
    const mint = (payload: string) => codec.mint(prefix + payload, binding);
    const state = mint(packed);
    if (state.length <= maxStateBytes) return state;
    return mint(await this.store(packed, state.length));
  }

  /** @throws InvalidStateError for a state that is forged, expired or has another binding, and errors of the store */
  async open(state: unknown, binding: string): Promise<unknown> {
    if (typeof state !== 'string') throw new InvalidStateError('it is not a text');
    const { maxStateBytes, store, singleUse, ttlSeconds } = this.settings;
    // A handle may be longer than a very small maximum.
    if (state.length > Math.max(maxStateBytes, MAX_HANDLE)) throw new InvalidStateError('it is too long');
    const { payload, key } = this.verify(state, binding);
    const end = payload.indexOf(':');
    const [nonce, packed] = [payload.slice(0, end), payload.slice(end + 1)];
    // If the store fails, the client can try again with the same state.
    const found = packed.startsWith('s') ? await this.fetch(packed.slice(1)) : packed;
    const value = this.read(found, key);
    if (singleUse && (nonce === '' || !(await store?.claim(`used:${nonce}`, ttlSeconds)))) {
      throw new InvalidStateError('it was used before');
    }
    return value;
  }

  /** @param handle names the stored text and holds its digest, because others may write to the store */
  private async fetch(handle: string): Promise<string> {
    const [name, digest] = handle.split('.');
    const stored = await this.settings.store?.get(`state:${name}`);
    if (stored === undefined) throw new InvalidStateError('the store does not have it any more');
    if (digestOfText(stored) !== digest) throw new InvalidStateError('the store has another text for it');
    return stored;
  }

  private read(packed: string, key: Key): unknown {
    try {
      return JSON.parse(this.unpack(packed, key));
    } catch (error) {
      throw error instanceof InvalidStateError ? error : new InvalidStateError('it cannot be read');
    }
  }

  private verify(state: string, binding: string): { payload: string; key: Key } {
    let cause =
      'it is not signed with the "mrtr.secret" of this node, as after a restart or from another node';
    for (const key of this.keys) {
      try {
        return { payload: key.codec.verify(state, binding), key };
      } catch (error) {
        const { message } = error as Error;
        if (message !== 'mac') cause = message;
      }
    }
    throw new InvalidStateError(cause);
  }

  private pack(json: string): string {
    const deflated = json.length < COMPRESS_FROM ? undefined : deflateRawSync(json);
    const [form, plain] = deflated ? ['z', deflated] : ['j', Buffer.from(json)];
    if (!this.settings.encrypt) return form === 'j' ? `j${json}` : `z${plain.toString('base64url')}`;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.keys[0].cipherKey, iv);
    const sealed = Buffer.concat([iv, cipher.update(form), cipher.update(plain), cipher.final()]);
    return `e${Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')}`;
  }

  private unpack(packed: string, key: Key): string {
    const body = packed.slice(1);
    if (this.settings.encrypt && packed[0] !== 'e') throw new InvalidStateError('it is not encrypted');
    switch (packed[0]) {
      case 'j':
        return body;
      case 'z':
        return this.inflate(Buffer.from(body, 'base64url'));
      case 'e': {
        const opened = decrypt(Buffer.from(body, 'base64url'), key.cipherKey);
        const plain = opened.subarray(1);
        return opened[0] === 'z'.charCodeAt(0) ? this.inflate(plain) : plain.toString();
      }
      default:
        throw new InvalidStateError('it has an unknown form');
    }
  }

  private inflate(deflated: Buffer): string {
    return inflateRawSync(deflated, { maxOutputLength: this.settings.maxJournalBytes }).toString();
  }

  private async store(packed: string, length: number): Promise<string> {
    const { store, maxStateBytes, ttlSeconds } = this.settings;
    if (!store) {
      throw new Error(
        `the state is ${length} bytes, more than "mrtr.maxStateBytes" (${maxStateBytes}) allows a client to carry: set "mrtr.store", or remember less`,
      );
    }
    const name = randomUUID();
    await store.set(`state:${name}`, packed, ttlSeconds);
    return `s${name}.${digestOfText(packed)}`;
  }
}

/** Greater than the length of a state with a handle. */
const MAX_HANDLE = 512;

const derive = (secret: string | Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `nestjs-mcp requestState ${purpose}`, 32));

const digestOfText = (text: string): string => createHash('sha256').update(text).digest('base64url');

function decrypt(sealed: Buffer, key: Buffer): Buffer {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** Identifies the scope, caller and arguments of a call. */
export const bindingOf = (
  { method, authInfo, http }: McpCall,
  params: Params,
  ...scope: readonly (string | undefined)[]
): string =>
  JSON.stringify([...scope, method, callerOf(authInfo, http?.request), digestOf(meantBy(method, params))]);

/** What a call is about. The method of an extension decides itself what its params mean, so all of them count. */
function meantBy(method: string, params: Params): Params {
  const {
    name,
    uri,
    arguments: args,
    _meta: _,
    inputResponses: _responses,
    requestState: _state,
    ...others
  } = params;
  return METHODS.has(method) ? { name, uri, args } : { name, uri, args, others };
}
