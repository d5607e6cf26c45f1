import { Body, Controller, Param, Post, Query, Req } from '@nestjs/common';
import { IsOptional, IsString } from 'class-validator';
import { Tool } from 'nestjs-mcp';
import { LogSpy } from '../../fixtures/log-spy.js';
import { platforms, startApp, textOf, type TestApp } from '../../fixtures/matrix.js';

class NoteDto {
  @IsString()
  text!: string;

  @IsOptional()
  @IsString()
  id?: string;
}

interface Seen {
  readonly url: string;
  readonly params: object;
  readonly query: object;
  readonly headers: Record<string, string>;
  readonly body: object;
}

@Controller('notes')
class NotesController {
  @Tool({ request: true, params: { 'body.id': 'bodyId' } })
  @Post(':id/lines')
  write(
    @Param('id') id: string,
    @Query('q') q: string,
    @Body() body: NoteDto,
    @Req() { url, params, query, headers, body: whole }: Seen,
  ) {
    const injected = Object.keys(headers).filter(name => name.startsWith('x-injected'));
    return { id, q, body, whole, url, params: { ...params }, query: { ...query }, injected };
  }
}

const HOSTILE = [
  'a/b',
  '../admin',
  '..%2fadmin',
  '%2e%2e',
  '%2f',
  '"quoted" and \'quoted\'',
  'a\r\nx-injected: 1\r\n\r\n',
  'a\nlog line',
  '?q=other&id=9#part',
  '__proto__',
  'constructor',
  '{id}',
  ':id',
  '\u0000',
  '😀',
];

describe.each(platforms())('hostile values of a route on %s', platform => {
  let app: TestApp;
  const log = new LogSpy();

  beforeAll(async () => {
    app = await startApp([], {
      platform,
      module: { controllers: [NotesController] },
      configure: nest => nest.useLogger(log),
    });
  });
  afterAll(() => app.close());

  const call = async (args: Record<string, unknown>) =>
    (await app.client()).callTool({ name: 'write', arguments: args });

  it.each(HOSTILE)('stay in their parameter: %j', async value => {
    const result = await call({ id: value, q: value, text: value, bodyId: value });
    expect(JSON.parse(textOf(result))).toEqual({
      id: value,
      q: value,
      body: { text: value, id: value },
      whole: { text: value, id: value },
      url: `/notes/${encodeURIComponent(value)}/lines?${new URLSearchParams({ q: value }).toString()}`,
      params: { id: value },
      query: { q: value },
      injected: [],
    });
    expect([log.errors, log.warnings]).toEqual([[], []]);
  });

  it.each(['.', '..', '', '\ud800', null, ['a'], { a: 1 }])('no path can hold %j', async value => {
    const result = await call({ id: value, q: 'q', text: 't' });
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringMatching(/\bid\b/)]);
  });

  it.each(['constructor', 'toString', 'other', 'path.id', 'headers'])(
    'an argument that the route does not have is refused: %s',
    async name => {
      const result = await call({ id: '1', q: 'q', text: 't', [name]: { isAdmin: true } });
      expect(result.isError).toBe(true);
    },
  );

  it('the argument "__proto__" reaches nothing', async () => {
    const args = JSON.parse('{"id":"1","q":"q","text":"t","__proto__":{"isAdmin":true}}') as Record<
      string,
      unknown
    >;
    const { whole, params, query } = JSON.parse(textOf(await call(args))) as Record<string, object>;
    expect([whole, params, query].map(part => Object.keys(part))).toEqual([['text'], ['id'], ['q']]);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});
