/** Credentials in the form of each format. They are joined at run time, so that scanners do not report this file. */
const BODY = 'a8Kd0Zq3Vt7Rm2Xw9Lp5Hn1Yc6Gf4Jb8Sd3Ek7Qu';
const HEX = '3f9a0c7be15d2846';
const join = (...parts: string[]) => parts.join('');

export const SECRETS: Readonly<Record<string, readonly string[]>> = {
  'aws-access-key-id': [join('AK', 'IAIOSFODNN7EXAMPLE'), join('AS', 'IAY34FZKBOKMUTVV7A')],
  'github-token': [
    ...['p', 'o', 'u', 's', 'r'].map(kind => join('gh', kind, '_', BODY.slice(0, 36))),
    join('github', '_pat_', '11ABCDEFG0', BODY, '_', BODY),
  ],
  'gitlab-token': [join('gl', 'pat-', BODY.slice(0, 20))],
  'slack-token': [join('xo', 'xb-', '123456789012-1234567890123-', BODY.slice(0, 24))],
  'slack-webhook': [join('https://hooks.', 'slack.com/services/T0AB1CD2E/B0AB1CD2E/', BODY.slice(0, 24))],
  'stripe-key': [join('sk', '_live_', BODY.slice(0, 24)), join('wh', 'sec_', BODY.slice(0, 32))],
  'api-key': [join('s', 'k-', BODY, BODY.slice(0, 8)), join('s', 'k-ant-api03-', BODY, '-', BODY)],
  'google-api-key': [join('AI', 'zaSy', BODY.slice(0, 33))],
  'npm-token': [join('np', 'm_', BODY.slice(0, 36))],
  'digitalocean-token': ['o', 'p', 'r'].map(kind => join('d', 'o', kind, '_v1_', HEX.repeat(4))),
  'shopify-token': ['at', 'ca', 'pa', 'ss'].map(kind => join('sh', 'p', kind, '_', HEX.repeat(2))),
  'twilio-api-key': [join('S', 'K', HEX.repeat(2))],
  'hugging-face-token': [join('h', 'f_', 'abcdEFGHijklMNOPqrstUVWXyzABCDEFGH')],
  'private-key': [
    join(
      '-----BEGIN RSA ',
      'PRIVATE KEY-----\n',
      `${BODY}${BODY}\n`.repeat(8),
      '-----END RSA PRIVATE KEY-----',
    ),
  ],
  jwt: [
    [
      { alg: 'HS256', typ: 'JWT' },
      { sub: '1234567890', name: 'Jo', iat: 1516239022 },
    ]
      .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.') + `.${BODY}`,
  ],
  'url-credentials': [join('jo:hunter2', 'secret'), join('jo:hunter', '/2/secret')].map(
    credentials => `postgres://${credentials}@db.example.com/x`,
  ),
  'basic-credentials': [
    `Authorization: Basic ${Buffer.from(join('jo:hunter2', 'secret')).toString('base64')}`,
  ],
  'high-entropy': [BODY],
};

/** One secret of each kind that is recognised in any context. */
export const TOKENS: readonly string[] = Object.entries(SECRETS)
  .filter(([kind]) => kind !== 'url-credentials' && kind !== 'basic-credentials')
  .flatMap(([, secrets]) => secrets);
