import type { Client, ElicitResult } from '@modelcontextprotocol/client';
import { outcomeOf } from '../gateway/support.js';
import { REPLAYED, Servers, type ConnectionName } from './connections.js';

type Answer = ElicitResult | (() => never);

const ACCEPTED: Record<string, ElicitResult> = {
  region: { action: 'accept', content: { name: 'eu' } },
  size: { action: 'accept', content: { size: 'S' } },
};

interface Row {
  /** The tool; its name says what it does. */
  readonly tool: string;
  readonly args?: Record<string, unknown>;
  readonly answers?: { readonly region?: Answer; readonly size?: Answer };
  /** The text of the result, where the client can be asked. */
  readonly text?: string;
  /** Part of the error, or of a result with `isError`. */
  readonly fails?: string;
  /** The same where the handler waits, and does not run again. */
  readonly waiting?: { readonly text?: string; readonly fails?: string };
  /** What the user was asked, in order of rounds. */
  readonly asked?: readonly string[];
  readonly capabilities?: object;
  /** The same where the client cannot be asked at all. Default: that this is said. */
  readonly stateless?: { readonly text?: string; readonly fails?: string };
}

const INTERNAL = 'Internal error';
const region = '{"name":"eu"}';
const MISTAKE = { fails: INTERNAL };

export const ROWS: Readonly<Record<string, Row>> = {
  'an exception': { tool: 'exception', text: 'to eu', asked: ['Which region?'] },
  'an exception, declined': {
    tool: 'exception',
    text: 'to undefined',
    answers: { region: { action: 'decline' } },
  },
  'a returned result, with a state': {
    tool: 'returned',
    text: `[{"action":"accept","content":${region}},"kept"]`,
  },
  'an awaited question': { tool: 'awaited', text: 'to eu', asked: ['Which region?'] },
  'an awaited question, declined': {
    tool: 'awaited',
    text: 'decline',
    answers: { region: { action: 'decline' } },
  },
  'an awaited question, dismissed': {
    tool: 'awaited',
    text: 'cancel',
    answers: { region: { action: 'cancel' } },
  },
  'questions under Promise.all': {
    tool: 'parallel',
    text: `[${region},{"size":"S"}]`,
    asked: ['Which region?', 'Which size?'],
  },
  'three kinds at once': { tool: 'three', text: `[${region},"model",1]` },
  'a state alone': { tool: 'stateOnly', text: 'after 2', asked: [] },
  'several rounds under one key': {
    tool: 'loop',
    text: 'S,S,S',
    asked: Array(3).fill('Which size?') as string[],
  },
  'how many rounds came before': {
    tool: 'rounds',
    text: '0,1,2,3',
    asked: ['Which region?', 'Which size?', 'Which size?', 'Which size?'],
  },
  'both styles': { tool: 'mixed', text: `[${region},{"size":"S"}]`, asked: ['Which region?', 'Which size?'] },
  'a page to visit': { tool: 'url', text: 'accept' },
  'parameters that are asked for': {
    tool: 'resolved',
    args: { service: 'shop' },
    text: 'shop eu S true',
    asked: ['Where is shop to run?', 'Which size?'],
  },
  'a parameter that is declined and may be': {
    tool: 'resolved',
    args: { service: 'shop' },
    answers: { size: { action: 'decline' } },
    text: 'shop eu undefined true',
  },
  'a parameter that is declined': {
    tool: 'resolved',
    args: { service: 'shop' },
    answers: { region: { action: 'decline' } },
    fails: 'The user declined',
  },
  'a guard that asks': { tool: 'guarded', text: 'come in', asked: ['Of age?'] },
  'a guard that asks, before a handler that does': {
    tool: 'guardedAwait',
    text: 'eu true',
  },
  'a guard that asks by exception, before a handler that awaits twice': {
    tool: 'consented',
    text: 'accept,accept,consent',
    asked: ['Really?', 'Which region?', 'Which size?'],
  },
  'a guard that awaits': { tool: 'awaitedByGuard', text: 'come in', asked: ['Really?'] },
  'an exception with a state, and questions that are awaited after it': {
    tool: 'exceptionThenAwaits',
    text: '[{"seen":2},{"name":"eu!"}]',
    asked: ['Which region?', 'Which size?', 'Which size?'],
  },
  'an exception after an awaited question': {
    tool: 'awaitThenException',
    text: 'size',
    asked: ['Which region?', 'Which size?'],
  },
  'what is changed that came from a step, and from the client': {
    tool: 'changes',
    text: '[["base"],"eu!",{"type":"text","text":"Hi!"}]',
  },
  'a step that fails and is done again': { tool: 'triesAgain', text: 'charge 2, tried 2 times' },
  'a step beside an exception': { tool: 'stepBeside', text: '1, done 1 times' },
  'a question that is not awaited within an Observable': {
    tool: 'forgottenInObservable',
    ...MISTAKE,
    stateless: MISTAKE,
  },
  'a question that is not awaited before an Observable': {
    tool: 'forgottenInPromisedObservable',
    ...MISTAKE,
    stateless: MISTAKE,
  },
  'an exception in a step': { tool: 'stepThatAsks', text: 'done', asked: ['Which region?'] },
  'an exception of a run that was given up': {
    tool: 'givenUp',
    text: 'done, number',
    asked: [],
    stateless: { text: 'done, number' },
  },
  'a step that fails in a run that was given up': {
    tool: 'givenUpFailing',
    text: 'done',
    stateless: { text: 'done' },
  },
  'a step of a run that was given up': { tool: 'givenUpCharging', text: 'charged 1 times' },
  'a step that waits for an answer': { tool: 'stepThatWaits', ...MISTAKE, stateless: MISTAKE },
  'a capability that is not declared, caught': {
    tool: 'caught',
    text: 'could not ask',
    capabilities: { elicitation: { url: {} } },
    asked: [],
    stateless: { text: 'could not ask' },
  },
  'a returned result that asks nothing': { tool: 'nothing', ...MISTAKE, asked: [], stateless: MISTAKE },
  'an exception with what is no question': {
    tool: 'malformed',
    ...MISTAKE,
    asked: [],
    stateless: { fails: 'connect with revision' },
  },
  'what runs when a round ends': { tool: 'finally', text: 'accept' },
  'a failure beside a question': {
    tool: 'failsBeside',
    fails: 'no such service',
    stateless: { fails: 'no such service' },
  },
  'an interceptor that maps what is thrown at once': {
    tool: 'mappedAtOnce',
    text: 'answered',
    asked: ['Which region?'],
  },
  'an interceptor that maps what is thrown': { tool: 'mapped', text: 'answered', asked: ['Which region?'] },
  'an interceptor that runs a failed handler again': {
    tool: 'retried',
    text: 'done,eu,S,run,step,run,failed,run,run',
    waiting: { text: 'done,eu,S,run,step,failed,run' },
  },
  'an interceptor that asks, and runs a failed handler again': {
    tool: 'retriedAsking',
    text: 'done,eu,false,run,step,run,failed,run',
    waiting: { text: 'done,eu,false,run,step,failed,run' },
  },
  'an interceptor that runs again what has parameters that are asked for': {
    tool: 'retriedResolver',
    text: 'eu 2',
    asked: ['Which region?'],
  },
  'an interceptor that runs an exception again': {
    tool: 'retriedException',
    text: 'eu 2',
    asked: ['Which region?'],
    stateless: { fails: 'connect with revision' },
  },
  'an interceptor that runs a mistake again': {
    tool: 'retriedMistake',
    ...MISTAKE,
    asked: [],
    stateless: MISTAKE,
  },
  'steps, times and random values': { tool: 'steady', text: '[true,1,true,false]' },
  'a client that throws': {
    tool: 'awaited',
    fails: 'nobody is here',
    answers: {
      region: () => {
        throw new Error('nobody is here');
      },
    },
  },
  'a capability that is not declared': {
    tool: 'awaited',
    fails: 'capabilit',
    capabilities: { elicitation: { url: {} } },
    asked: [],
  },
  'a capability that is not declared, by exception': {
    tool: 'exception',
    fails: 'capabilit',
    capabilities: { sampling: {} },
    asked: [],
  },
  'a malformed answer': {
    tool: 'awaited',
    fails: 'An answer cannot be used: the form is not filled in as asked: name',
    answers: { region: { action: 'accept', content: { name: 'nowhere' } } },
  },
  'an answer that accepts and says nothing': {
    tool: 'awaited',
    fails: 'An answer cannot be used: the form is not filled in as asked: name',
    answers: { region: { action: 'accept' } },
  },
  'rounds without end': { tool: 'endless', fails: 'more than 10 rounds' },
  'rounds without end, by exception': { tool: 'endlessException', fails: '10' },
  'a swallowed signal': {
    tool: 'swallowed',
    fails: INTERNAL,
    waiting: { text: 'answered' },
    stateless: { text: 'went on without' },
  },
  'a swallowed signal, and another question': {
    tool: 'swallowedAndAsked',
    fails: INTERNAL,
    waiting: { text: 'answered' },
    stateless: { text: 'answered' },
  },
  'a question in a loop around a catch': {
    tool: 'stubborn',
    text: '{"size":"S"}',
    asked: ['Which size?'],
    stateless: { fails: 'more than 10 rounds' },
  },
  'rounds without end, around a catch': {
    tool: 'stubbornAndEndless',
    fails: '10',
    stateless: { fails: 'more than 10 rounds' },
  },
  'a mistake in a loop around a catch': {
    tool: 'stubbornMistake',
    ...MISTAKE,
    asked: [],
    stateless: MISTAKE,
  },
  'an interceptor that asks once the handler has asked and returned': {
    tool: 'askedAfterwards',
    text: 'eu, eu',
    asked: ['Which region?', 'Which region?'],
  },
  'an interceptor that asks once the handler has returned': {
    tool: 'askedOnlyAfterwards',
    text: 'returned, eu',
    asked: ['Which region?'],
  },
  'an interceptor that does a step once the handler has returned': {
    tool: 'steppedAfterwards',
    text: '0, audited',
    stateless: { text: '0, audited' },
  },
  'an interceptor that swallows the signal': {
    tool: 'swallowedAfterwards',
    fails: INTERNAL,
    waiting: { text: 'accept' },
    stateless: { text: 'went on without' },
  },
  'a filter that asks': { tool: 'askedWhy', text: 'failed for eu', asked: ['Which region?'] },
  'an Observable that asks, promised after a step': {
    tool: 'promisedObservable',
    text: 'done eu',
    asked: ['Which region?'],
  },
  'a query that runs once it is awaited': {
    tool: 'query',
    text: 'inserted 1',
    stateless: { text: 'inserted 1' },
  },
  'an interceptor that maps what an Observable fails with': {
    tool: 'mappedObservable',
    text: 'answered',
    asked: ['Which region?'],
  },
  'an interceptor that runs a handler again while its step runs': {
    tool: 'retriedWhileRunning',
    text: '2 runs, 1 charge',
    stateless: { text: '2 runs, 1 charge' },
  },
  'a wrapped signal': { tool: 'wrapped', text: region, stateless: MISTAKE },
  'a changed question': { tool: 'changedQuestion', fails: INTERNAL, waiting: { text: 'accept' } },
  'a changed kind': { tool: 'changedKind', fails: INTERNAL, waiting: { text: '' } },
  'a question in a step': { tool: 'nested', ...MISTAKE, asked: [], stateless: MISTAKE },
  'a question that is not awaited': { tool: 'unawaited', ...MISTAKE, stateless: MISTAKE },
  'a race of questions': { tool: 'raced', ...MISTAKE, stateless: MISTAKE },
  'a key used twice at a time': { tool: 'twice', ...MISTAKE, stateless: MISTAKE },
  'a key that cannot be one': { tool: 'badKey', ...MISTAKE, asked: [], stateless: MISTAKE },
  'an exception with a key that cannot be one': {
    tool: 'badExceptionKey',
    ...MISTAKE,
    asked: [],
    stateless: MISTAKE,
  },
  'a returned result with a key that cannot be one': {
    tool: 'badReturnedKey',
    ...MISTAKE,
    asked: [],
    stateless: MISTAKE,
  },
  'a form that cannot be sent': { tool: 'unsayable', ...MISTAKE, asked: [], stateless: MISTAKE },
};

/** Declares the tests of these rows over a connection, and of the other kinds of handlers that ask. */
export function testCalls(name: ConnectionName, rows: Readonly<Record<string, Row>> = ROWS): void {
  const servers = new Servers();
  const clients: Client[] = [];
  let answers: Row['answers'];
  const asked: string[] = [];

  const open = async (capabilities: object) => {
    const client = await servers.connect(name, {
      capabilities,
      prepare: one => {
        if ('elicitation' in capabilities) {
          one.setRequestHandler('elicitation/create', ({ params }) => {
            asked.push(params.message);
            const key = params.message.includes('size') ? 'size' : 'region';
            const answer = answers?.[key] ?? ACCEPTED[key];
            if (typeof answer === 'function') return answer();
            return params.message.startsWith('Of age') || params.mode === 'url'
              ? { action: 'accept' }
              : answer;
          });
        }
        if ('sampling' in capabilities) {
          one.setRequestHandler('sampling/createMessage', () => ({
            role: 'assistant',
            content: { type: 'text', text: 'Hi' },
            model: 'model',
          }));
        }
        if ('roots' in capabilities) {
          one.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work' }] }));
        }
      },
    });
    clients.push(client);
    return client;
  };
  let client: Client;
  const restricted = new Map<Row, Client>();
  beforeAll(async () => {
    await servers.open();
    client = await open({ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} });
    for (const row of Object.values(rows)) {
      if (row.capabilities) restricted.set(row, await open(row.capabilities));
    }
  }, 120_000);
  beforeEach(() => {
    asked.length = 0;
  });
  afterAll(async () => {
    for (const one of clients) await one.close();
    await servers.close();
  });

  it.each(Object.entries(rows))('%s', async (_, row) => {
    answers = row.answers;
    const caller = restricted.get(row) ?? client;
    const outcome = await outcomeOf(caller.callTool({ name: row.tool, arguments: row.args ?? {} }));
    const expected = expectedOf(row, name);
    const text = JSON.stringify(outcome);
    if (expected.text === undefined) {
      expect(text).toMatch(/"isError":true|^{"(code|message)":/);
      expect(text).toContain(expected.fails);
    } else {
      expect(outcome).toMatchObject({
        content: [{ type: 'text', text: expect.stringContaining(expected.text) }],
      });
      expect(outcome).not.toMatchObject({ isError: true });
    }
    if (row.asked && name !== '2025 stateless') expect(asked).toEqual(row.asked);
  });

  it.each([
    ['a prompt', () => client.getPrompt({ name: 'asked' }), 'for eu'],
    ['a resource', () => client.readResource({ uri: 'state://asked' }), 'of eu'],
    ['a resource template', () => client.readResource({ uri: 'thing://7' }), '7 of eu'],
  ])('%s asks as a tool does', async (_, call, said) => {
    answers = undefined;
    const text = JSON.stringify(await outcomeOf(call()));
    expect(text).toContain(name === '2025 stateless' ? 'connect with revision 2026-07-28' : said);
  });

  it('a handler knows whether it can ask', async () => {
    expect(await client.callTool({ name: 'supported' })).toMatchObject({
      content: [{ text: String(name !== '2025 stateless') }],
    });
  });
}

function expectedOf(
  { text, fails, waiting, stateless = UNSUPPORTED }: Row,
  name: ConnectionName,
): { text?: string; fails?: string } {
  if (name === '2025 stateless') return stateless;
  return (REPLAYED.includes(name) ? undefined : waiting) ?? { text, fails };
}

const UNSUPPORTED = { fails: 'connect with revision 2026-07-28' };
