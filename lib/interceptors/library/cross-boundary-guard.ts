import { Logger, type Type } from '@nestjs/common';
import { Validator } from '../decorators/interceptor.decorators.js';
import { FUNCTION, listOf, objectOf, omit, TEXT } from '../../options/option-schema.js';
import { allow, deny, type InterceptorInvocation, type ValidatorReturn } from '../authoring.js';
import { isNotificationEvent } from '../protocol/events.js';
import { matchesGlob } from '../protocol/glob.js';
import { READY_MADE_VALIDATOR, readyMade, type ReadyMadeValidatorOptions } from './ready-made.js';
import { originOf, sessionKeyOf, shortened, stateKeyOf } from './sessions.js';
import { DETECTOR, detectorOptions, SecretDetector, type SecretDetectorOptions } from './secrets/detector.js';
import {
  fingerprintOf,
  SECRET_LEDGER,
  SecretLedger,
  type SecretLedgerOptions,
} from './secrets/secret-ledger.js';
import { fold } from './secrets/view.js';
import { mapTexts, SCAN_LIMITS, type ScanLimits } from './secrets/scan.js';

const logger = new Logger('McpInterceptors');

export interface SecretFlow {
  readonly from: string;
  readonly to: string;
}

/** Options of `CrossBoundaryGuard`. Defaults: name `cross-boundary-guard`, all events, `final`. */
export interface CrossBoundaryGuardOptions
  extends Omit<ReadyMadeValidatorOptions, 'phase' | 'hooks'>, SecretDetectorOptions {
  /**
   * Whether a whole text is a secret, in addition to the detector. Secrets with fewer than six letters or digits are
   * not tracked.
   */
  readonly isSecret?: (text: string, key: string | undefined) => boolean;
  /**
   * Names the side of the boundary that a message belongs to. Use the server's name if each of several servers has its
   * own chain. Default: `tool:<name>`, `prompt:<name>` or `resource:<scheme>://<authority>`, otherwise the event. For
   * the application's own events, it is `<event>@<scheme>://<authority> <name>`, from their `uri` and `name`. A name of
   * more than 128 characters is cut to 64 characters and a digest.
   */
  readonly origin?: string | ((invocation: InterceptorInvocation) => string);
  /** Allowed flows, in addition to the flow back to the source of a secret. Default: none. */
  readonly allow?: readonly SecretFlow[];
  /**
   * Groups messages. Default: the session, otherwise the principal. Without both, each exchange stands alone, and
   * nothing is remembered.
   */
  readonly session?: (invocation: InterceptorInvocation) => string | undefined;
  /** Remembers the secrets that were read. Share a ledger between guards of several servers. Default: a new ledger. */
  readonly ledger?: SecretLedger | SecretLedgerOptions;
  /** The largest payload; a larger payload is blocked. Default: 4,194,304 UTF-16 units of text, see `ScanLimits`. */
  readonly limits?: ScanLimits;
}

export const CROSS_BOUNDARY_GUARD = objectOf<CrossBoundaryGuardOptions>({
  ...DETECTOR.properties,
  isSecret: FUNCTION,
  origin: { anyOf: [FUNCTION, TEXT], description: 'a name or a function' },
  allow: listOf(
    objectOf<SecretFlow>({ from: TEXT, to: TEXT }, { required: ['from', 'to'] }),
    'a list of { from, to }',
  ),
  session: FUNCTION,
  ledger: {
    anyOf: [{ instanceOf: SecretLedger }, SECRET_LEDGER],
    description: 'a SecretLedger, or { maxSessions, maxSecrets, ttlMs, now }',
  },
  limits: SCAN_LIMITS,
  ...omit(READY_MADE_VALIDATOR, 'phase', 'hooks'),
});

/** The provider that `CrossBoundaryGuard` creates: `check` denies requests, `record` remembers secrets of responses. */
export interface CrossBoundaryGuardInterceptor {
  check(invocation: InterceptorInvocation): ValidatorReturn;
  record(invocation: InterceptorInvocation): ValidatorReturn;
}

/**
 * Keeps a secret that was read from one tool or server from being sent to another in the same session: whole, in part,
 * encoded, or divided between texts. A validator on requests checks; one on responses, `<name>-recorder`, remembers salted
 * hashes in this process and fails if there are too many. With `expose`, it remembers per invoking principal.
 *
 * It needs a session or a principal: a request without either stands alone, and the log warns once. Authenticate callers,
 * or give `session`.
 *
 * @throws TypeError for an unknown or wrong option
 * @example
 * ```ts
 * providers: [CrossBoundaryGuard({ allow: [{ from: 'tool:vault_*', to: 'tool:deploy' }] })]
 * ```
 */
export function CrossBoundaryGuard(
  options: CrossBoundaryGuardOptions = {},
): Type<CrossBoundaryGuardInterceptor> {
  const defaults = { name: 'cross-boundary-guard', events: ['*'], final: true } as const;
  const { own, declared, provider } = readyMade(
    'CrossBoundaryGuard',
    CROSS_BOUNDARY_GUARD,
    options,
    defaults,
  );
  const { isSecret, origin = originOf, session, limits } = own;
  const detector = new SecretDetector(detectorOptions(own));
  const ledger = own.ledger instanceof SecretLedger ? own.ledger : new SecretLedger(own.ledger);
  const sideOf = (invocation: InterceptorInvocation) =>
    shortened(typeof origin === 'string' ? origin : origin(invocation));
  let hasWarned = false;
  const keyOf = (invocation: InterceptorInvocation) => {
    const key = session?.(invocation) ?? sessionKeyOf(invocation);
    if (typeof key !== 'string' && !hasWarned) {
      hasWarned = true;
      logger.warn(
        `${declared.name} cannot group the messages of a caller without a session and a principal, and does not track its secrets; authenticate callers, or set "session" of the guard`,
      );
    }
    return typeof key === 'string' ? stateKeyOf(invocation, shortened(key)) : key;
  };
  const isAllowed = (from: string, to: string) =>
    from === to || options.allow?.some(way => matchesGlob(way.from, from) && matchesGlob(way.to, to));

  class Guard implements CrossBoundaryGuardInterceptor {
    @Validator({ ...declared, phase: 'request' })
    check(invocation: InterceptorInvocation): ValidatorReturn {
      // Progress goes back to the client, like the result.
      if (isNotificationEvent(invocation.event)) return allow();
      const to = sideOf(invocation);
      const sources = ledger.originsIn(keyOf(invocation), () =>
        foldedTexts(detector, invocation.payload, limits),
      );
      return sources.every(origins => origins.some(from => isAllowed(from, to)))
        ? allow()
        : deny('A secret from another source in this session must not be sent here');
    }

    @Validator({ ...declared, name: `${declared.name}-recorder`, phase: 'response', sideEffects: 'some' })
    record(invocation: InterceptorInvocation): ValidatorReturn {
      const fingerprints = new Set<string>();
      const add = (kind: string, secret: string) =>
        fingerprintOf(kind, secret).forEach(fingerprint => fingerprints.add(fingerprint));
      mapTexts(
        invocation.payload,
        (text, { key, within, isKey, binary }) => {
          if (binary === 'bytes') return text;
          const names = isKey ? {} : { key, within };
          for (const { kind, value } of detector.find(text, names)) add(kind, value);
          if (isSecret?.(text, names.key)) add('custom', text);
          return text;
        },
        limits,
      );
      ledger.record(keyOf(invocation), sideOf(invocation), fingerprints);
      return allow();
    }
  }
  return provider(Guard);
}

/**
 * All texts of a payload: every text in all its readings, the joined keys, the joined values, and both together in
 * order.
 */
function foldedTexts(detector: SecretDetector, payload: unknown, limits: ScanLimits | undefined): string[] {
  const texts: string[] = [];
  const together = { keys: '', values: '', both: '' };
  mapTexts(
    payload,
    (text, { isKey, binary }) => {
      if (binary === 'bytes') return text;
      const readings = [...detector.readings(text)].map(fold);
      together[isKey ? 'keys' : 'values'] += readings[0];
      together.both += readings[0];
      texts.push(...readings.slice(1));
      return text;
    },
    limits,
  );
  return [...Object.values(together), ...texts];
}
