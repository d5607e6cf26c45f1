import { InterceptorChain } from '../interceptor-chain.js';
import { mutator, StubHost } from '../../../test/interceptors/remote/stub-host.js';

/** A chain over a host whose interceptor has a `configSchema`, and what it is configured with. */
const discover = (pattern: string, text: string) => {
  const configSchema = { type: 'object', properties: { text: { type: 'string', pattern } } };
  const host = new StubHost('one', [mutator('m', { configSchema })]);
  return InterceptorChain.discover([host.with()], { overrides: { m: { config: { text } } } });
};

it('a pattern in the configSchema of a remote host takes linear time', async () => {
  await expect(discover('^(a+)+$', 'a'.repeat(10_000))).resolves.toBeDefined();
  await expect(discover('^(a+)+$', `${'a'.repeat(10_000)}!`)).rejects.toThrow(/text: must match pattern/);
});

it.each([
  ['looks ahead', '^(?=a)', 'a'],
  ['has a property that linear time does not know', '\\p{Script_Extensions=Greek}', 'a'],
  ['would take too long', '[ab]*a[ab]{900}z$', `z${'ab'.repeat(50_000)}`],
])('a pattern that %s is refused', async (_what, pattern, text) => {
  await expect(discover(pattern, text)).rejects.toThrow(/its configSchema cannot be used/);
});
