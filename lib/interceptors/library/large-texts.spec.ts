import { Injectable } from '@nestjs/common';
import { Args, Mutator, Tool, type InterceptorInvocation } from 'nestjs-mcp';
import { mapTexts, SecretRedactor } from 'nestjs-mcp/interceptors';
import { startApp, type TestApp } from '../../../test/fixtures/matrix.js';
import { SECRETS } from '../../../test/fixtures/secrets.js';
import { ScanLimitError } from './secrets/scan.js';

const [token] = SECRETS['github-token'];
/** Just below what the endpoint reads by default, 4 MiB, with the rest of the request. */
const LONG = `${'word '.repeat(800_000)}${token}`;

@Injectable()
class Texts {
  @Tool()
  end(@Args('text') text: string) {
    return text.slice(-30);
  }
}

@Injectable()
class Whisper {
  @Mutator({ events: ['tools/call'], phase: 'request', scope: { allow: ['/arguments'] } })
  lower({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return mapTexts(payload, (text, { isKey, isProtocol }) =>
      isKey || isProtocol ? text : text.toLowerCase(),
    );
  }
}

let test: TestApp | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

it('SecretRedactor reads whatever the endpoint does', async () => {
  test = await startApp([Texts, SecretRedactor({ phase: 'request', timeoutMs: 30_000 })], {
    mcp: { interceptors: { timeoutMs: 60_000 } },
  });
  const client = await test.client({ era: 'modern' });
  const result = await client.callTool({ name: 'end', arguments: { text: LONG } });
  expect(result).toMatchObject({
    content: [{ text: expect.stringContaining('[REDACTED:github-token]') as string }],
  });
});

it('an interceptor of an application walks texts with mapTexts', async () => {
  test = await startApp([Texts, Whisper]);
  const client = await test.client({ era: 'modern' });
  const result = await client.callTool({ name: 'end', arguments: { text: 'LOUD' } });
  expect(result).toMatchObject({ content: [{ text: 'loud' }] });
});

it('mapTexts reads 4 MiB of text unless it is told otherwise', () => {
  const same = (text: string) => text;
  expect(mapTexts({ text: 'x'.repeat(4_194_300) }, same)).toBeDefined();
  expect(() => mapTexts({ text: 'x'.repeat(4_194_304) }, same)).toThrow(ScanLimitError);
  expect(mapTexts({ text: 'x'.repeat(4_194_304) }, same, { maxChars: 5_000_000 })).toBeDefined();
});
