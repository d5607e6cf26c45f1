import { createHmac, createSecretKey, type Hmac, type KeyObject, timingSafeEqual } from 'node:crypto';

const PREFIX = 'v1.';
const BIND_LABEL = 'mcp.requestState.bind:';
const BIND_BYTES = 16;

/** The state is not valid. The message is for the log only. */
export class InvalidStateError extends Error {}

interface Envelope {
  readonly p: string;
  readonly exp: number;
  readonly b: string;
}

/**
 * Signs a text, limits its lifetime and binds it to a call, in the format of the SDK's `createRequestStateCodec`. The
 * SDK's codec computes each MAC on Node's thread pool, which takes ten times as long as the MAC.
 */
export class StateCodec {
  private readonly key: KeyObject;

  constructor(
    key: Buffer,
    private readonly ttlSeconds: number,
  ) {
    this.key = createSecretKey(key);
  }

  mint(payload: string, binding: string): string {
    const envelope: Envelope = { p: payload, exp: nowSeconds() + this.ttlSeconds, b: this.bindTag(binding) };
    const signed = PREFIX + Buffer.from(JSON.stringify(envelope)).toString('base64url');
    return `${signed}.${this.mac(signed).digest('base64url')}`;
  }

  /** @throws InvalidStateError, with the message `mac` if another key may have signed the state */
  verify(state: string, binding: string): string {
    const dot = state.lastIndexOf('.');
    if (!state.startsWith(PREFIX) || dot <= PREFIX.length) throw new InvalidStateError('malformed');
    const signed = state.slice(0, dot);
    if (!isSame(state.slice(dot + 1), this.mac(signed).digest('base64url')))
      throw new InvalidStateError('mac');
    // Only `mint` writes what the key signs.
    const body = Buffer.from(signed.slice(PREFIX.length), 'base64url').toString();
    const { p, exp, b } = JSON.parse(body) as Envelope;
    if (exp < nowSeconds()) throw new InvalidStateError('expired');
    if (!isSame(b, this.bindTag(binding))) throw new InvalidStateError('bind');
    return p;
  }

  private bindTag(binding: string): string {
    return this.mac(BIND_LABEL + binding)
      .digest()
      .subarray(0, BIND_BYTES)
      .toString('base64url');
  }

  private mac(text: string): Hmac {
    return createHmac('sha256', this.key).update(text);
  }
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** Compares MACs as texts, in constant time, so that each MAC has one spelling. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
