/** A format of secrets. */
export interface SecretPattern {
  /** The name of a finding, as in `[REDACTED:<kind>]`. */
  readonly kind: string;
  /** Must match in linear time. A group `secret`, or `lead` in a lookbehind, narrows the match to the secret. */
  readonly pattern: RegExp;
  /** Whether a match is a secret. Default: always. */
  readonly accept?: (value: string) => boolean;
}

/**
 * The patterns ignore case, because a reader could restore it. Each takes linear time: no character class contains the
 * character after it.
 */
const KNOWN = [
  {
    kind: 'private-key',
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-(?!----)[^-]*)*(?:-----END[A-Z0-9 ]{0,60}-----)?/gi,
  },
  {
    kind: 'aws-access-key-id',
    pattern: /(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}/gi,
    accept: value => value === value.toUpperCase() || /\d/.test(value.slice(4)),
  },
  {
    kind: 'aws-secret-access-key',
    pattern:
      /aws[\w .-]{0,24}(?:secret|private)[\w .-]{0,24}["']?\s{0,4}(?:=>|[:=,])\s{0,4}\[?\s{0,4}["']?(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/gi,
    accept: isMixed,
  },
  {
    kind: 'github-token',
    pattern: /gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}/gi,
    accept: isMixed,
  },
  {
    kind: 'gitlab-token',
    pattern: /gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-[A-Za-z0-9_-]{20,}/gi,
    accept: isMixed,
  },
  { kind: 'slack-token', pattern: /(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}/gi, accept: isMixed },
  {
    kind: 'slack-webhook',
    pattern:
      /hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9]{6,}\/[A-Za-z0-9/_-]{8,}/gi,
  },
  {
    kind: 'stripe-key',
    pattern: /[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}/gi,
    accept: isMixed,
  },
  {
    kind: 'api-key',
    pattern: /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}/gi,
    accept: value => isMixed(value) && /[A-Za-z0-9_]{12}/.test(value.slice(3)),
  },
  { kind: 'google-api-key', pattern: /AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{28}/gi, accept: isMixed },
  { kind: 'npm-token', pattern: /npm_[A-Za-z0-9]{36}/gi, accept: isMixed },
  { kind: 'digitalocean-token', pattern: /do[opr]_v1_[0-9a-f]{64}/gi },
  { kind: 'shopify-token', pattern: /shp(?:at|ca|pa|ss)_[0-9a-f]{32}/gi },
  // Short prefixes also end ordinary words, such as `disk` and `chf_`.
  { kind: 'twilio-api-key', pattern: /(?<![A-Za-z])[Ss][Kk][0-9A-Fa-f]{32}/g },
  { kind: 'hugging-face-token', pattern: /(?<![a-z])[Hh][Ff]_[A-Za-z0-9]{34,}/g, accept: isMixed },
  // Anchored on the first dot. A segment ends at a dot, so each segment is read at most twice.
  { kind: 'jwt', pattern: /\.(?<=(?<lead>eyJ[\w-]{8,})\.)[\w-]{8,}\.[\w-]*/g },
  { kind: 'url-credentials', pattern: /:\/\/(?<secret>[^\s/?#@:"'<>]{0,256}:[^\s/?#"'<>]{1,256})@/g },
  // A password with a slash looks like a port, or a tag and a path. So this pattern is limited to schemes without
  // paths, such as databases and brokers. The lookahead spares most characters the lookbehind.
  {
    kind: 'url-credentials',
    pattern:
      /(?=[+:])(?<=postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|amqp|amqps|mssql|sqlserver|clickhouse|ldap|ldaps|smtp|smtps|imap|imaps|ftp|ftps|sftp|mqtt|mqtts|nats|neo4j|bolt|kafka|cassandra|couchbase|stomp)(?:\+[\w.-]{1,32})?:\/\/(?<secret>[^\s/?#@:"'<>]{0,256}:(?!\d{0,5}\/)[^\s/?#@"'<>{}]{1,256}\/[^\s?#@"'<>{}]{0,256})@/gi,
  },
  {
    kind: 'basic-credentials',
    pattern: /(?<![A-Za-z0-9])basic\s{1,4}(?<secret>[A-Za-z0-9+/]{8,}={0,2})/gi,
    accept: isUserAndPassword,
  },
] as const satisfies readonly SecretPattern[];

export type SecretKind = (typeof KNOWN)[number]['kind'];

export const SECRET_KINDS: readonly SecretKind[] = [...new Set(KNOWN.map(({ kind }) => kind))];

export const knownPatterns = (kinds?: readonly SecretKind[]): readonly SecretPattern[] =>
  kinds ? KNOWN.filter(({ kind }) => kinds.includes(kind)) : KNOWN;

function isUserAndPassword(value: string): boolean {
  const bytes = Buffer.from(value, 'base64');
  if (/^[^\p{Cc}\ufffd:]*:[^\p{Cc}\ufffd]*$/u.test(bytes.toString('utf8'))) return true;
  // The encoding is unknown, UTF-8 or Latin-1 (RFC 7617). Many words decode as Latin-1, but hardly ever to a user name.
  const text = bytes.toString('latin1');
  const isEncoded = /[\d+]/.test(value) || (value.endsWith('=') && value.length % 4 === 0);
  return /^[^\p{Cc}:]*:[^\p{Cc}]*$/u.test(text) && (isEncoded || /^[ -~\u00c0-\u00ff]{2,}?:/.test(text));
}

function isMixed(value: string): boolean {
  const body = value.slice(4);
  return /\d/.test(body) || (/[a-z]/.test(body) && /[A-Z]/.test(body));
}
