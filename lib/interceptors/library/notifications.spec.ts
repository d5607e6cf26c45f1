import 'reflect-metadata';
import { CrossBoundaryGuard } from './cross-boundary-guard.js';
import { invocationOf } from '../../../test/fixtures/invocation.js';
import { SecretRedactor } from './secret-redactor.js';
import { SECRETS } from '../../../test/fixtures/secrets.js';

const logged = (data: unknown) =>
  invocationOf({ level: 'info', data }, { event: 'notifications/message', direction: 'send' });

describe('a log message', () => {
  it('has nothing in its data that is random by nature', () => {
    const [secret] = SECRETS['high-entropy'];
    const redacted = new (SecretRedactor())().redact(logged({ name: secret, cursor: secret }));
    expect(JSON.stringify(redacted)).toContain('REDACTED');
    expect(JSON.stringify(redacted)).not.toContain(secret);
  });

  it('goes where the result goes, and so crosses no boundary', () => {
    const [secret] = SECRETS['github-token'];
    const guard = new (CrossBoundaryGuard())();
    guard.record(
      invocationOf(
        { content: [{ type: 'text', text: secret }] },
        { phase: 'response', request: { name: 'vault' } },
      ),
    );
    expect(guard.check(invocationOf({ name: 'mail', arguments: { body: secret } }))).not.toEqual({
      valid: true,
    });
    expect(guard.check(logged(secret))).toEqual({ valid: true });
  });
});
