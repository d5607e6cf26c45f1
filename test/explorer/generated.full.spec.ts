import * as fc from 'fast-check';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { tokenOf, trusting } from '../auth/callers.js';
import { startExplored, type ExploredApp } from './explored-app.js';
import { APPS, isSpecialFilter, Log, makeApp, type AppPlan } from './generated-app.js';

const API = '/mcp-explorer/api';

const PLANS = fc.sample(APPS, { numRuns: 50, seed: 20 });

interface Step {
  readonly kind: string;
  readonly name: string;
}

interface Turn {
  readonly id: string;
  readonly step: string;
  readonly skippedIf?: string;
}

/** A tool that no list hides, no scope needs, and its number. */
const callable = (plan: AppPlan) =>
  plan.tools.flatMap(({ visible, scopes }, index) =>
    visible.every(Boolean) && !plan.removed.includes(index) && !(plan.isProtected && scopes.length > 0)
      ? [index]
      : [],
  );

const TOKEN = tokenOf('ada', 'a');

describe.each(PLANS.map((plan, index) => [index, plan] as const))(
  'generated application %i',
  (index, plan) => {
    const log = new Log();
    const { handlers, providers, overrides } = makeApp(plan, log);
    const auth = McpAuthModule.forRoot({
      authorizationServers: ['https://login.example'],
      verifier: trusting,
      anonymous: true,
    });
    let app: ExploredApp;

    beforeAll(async () => {
      app = await startExplored(handlers, {
        mcp: { interceptors: { overrides } },
        module: { providers, imports: plan.isProtected ? [auth] : [] },
      });
    });
    afterAll(() => app.close());

    const client = () => app.client({ era: index % 2 === 0 ? 'modern' : 'legacy' });

    it('runs guards, interceptors and pipes in the order that the catalogue tells', async () => {
      const { json } = await app.get(`${API}/catalogue`);
      const caller = await client();
      for (const tool of callable(plan)) {
        const { steps } = json.servers[0].handlers.find(({ name }: Step) => name === `tool${tool}`);
        const texts = (steps as Step[]).map(({ kind, name }) => `${kind} ${name}`);
        log.clear();
        const called = await caller
          .callTool({ name: `tool${tool}`, arguments: { text: 'go' } })
          .catch(() => undefined);
        // An active validator of the chain refuses some calls.
        if (!called && log.steps.length === 0) continue;
        expect(log.steps).toEqual(texts.filter(text => !text.startsWith('filter')));
        for (const error of ['plain', 'special']) {
          log.clear();
          await caller.callTool({ name: `tool${tool}`, arguments: { text: error } }).catch(() => undefined);
          const filters = texts.filter(text => text.startsWith('filter'));
          const first = filters.find(text => error === 'special' || !isSpecialFilter(text));
          expect(log.steps.filter(text => text.startsWith('filter'))).toEqual(
            first === undefined ? [] : [first],
          );
        }
      }
    });

    it('runs its interceptors in the order that the chain tells', async () => {
      const { json } = await app.get(`${API}/chain`);
      const { phases, interceptors } = json.servers[0];
      const caller = await client();
      for (const tool of callable(plan)) {
        log.clear();
        const name = `tool${tool}`;
        const isAnswered = await caller.callTool({ name, arguments: { text: 'go' } }).then(
          () => true,
          () => false,
        );
        const expected = ['request', 'response'].flatMap(phase => {
          const { order = [] } =
            phases.find(
              (one: { event: string; phase: string }) => one.event === 'tools/call' && one.phase === phase,
            ) ?? {};
          return applying(order, plan, tool, interceptors).map(({ id }) => `${phase} ${id}`);
        });
        const turns = ordered(log.turns, plan);
        expect(ordered(expected.slice(0, turns.length), plan)).toEqual(turns);
        if (isAnswered) expect(turns).toEqual(ordered(expected, plan));
      }
    });

    it('traces what ran, with the verdicts', async () => {
      for (const tool of callable(plan)) {
        log.clear();
        const { json } = await app.post(`${API}/call`, {
          server: 'test',
          caller: { kind: 'anonymous' },
          method: 'tools/call',
          params: { name: `tool${tool}`, arguments: { text: 'go' } },
          confirmed: true,
        });
        const traced = json.chain.flatMap(
          ({
            event,
            phase,
            turns,
          }: {
            event: string;
            phase: string;
            turns: { id: string; outcome: string }[];
          }) =>
            event === 'tools/call'
              ? turns.map(({ id, outcome }) => ({ turn: `${phase} ${id}`, id, outcome }))
              : [],
        );
        const turns = traced.map(({ turn }: { turn: string }) => turn);
        expect(ordered(turns, plan)).toEqual(ordered(log.turns, plan));
        for (const { id, outcome } of traced as { id: string; outcome: string }[]) {
          const { type, acts } = plan.interceptors[Number(/\d+$/.exec(id)![0])];
          const verdicts = type === 'validator' ? ['pass', 'deny'] : ['unmodified', 'mutated'];
          expect([id, outcome]).toEqual([id, verdicts[Number(acts)]]);
        }
      }
    });

    it('says why entries of a list are missing', async () => {
      for (const token of plan.isProtected ? [undefined, TOKEN] : [undefined]) {
        log.clear();
        const headers: Record<string, string> =
          token === undefined ? {} : { authorization: `Bearer ${token}` };
        const real = await app.client({ headers });
        const { tools } = await real.listTools();
        const removers = new Map(log.removers);
        const caller = token === undefined ? { kind: 'anonymous' } : { kind: 'token', token };
        const { json } = await app.post(`${API}/callers`, { server: 'test', caller });
        const [list] = json.lists;
        expect(list.entries.map(({ name }: Step) => name)).toEqual(tools.map(({ name }) => name));
        const missing = plan.tools
          .map((_, at) => `tool${at}`)
          .filter(name => !tools.some(tool => tool.name === name));
        expect(list.missing.map(({ name }: Step) => name)).toEqual(missing);
        for (const { name, by, names } of list.missing) {
          const remover = removers.get(name);
          if (by === 'guard' || by === 'interceptor') expect(`${by} ${names[0]}`).toBe(remover);
          else await expectRefusal(app, name, token, by, names);
        }
      }
    });
  },
);

/** The turns that a call of a tool takes, if nothing refuses it. */
function applying(
  order: readonly Turn[],
  { interceptors }: AppPlan,
  tool: number,
  known: readonly { id: string; mode: { value: string } }[],
): Turn[] {
  const planOf = ({ id }: Turn) => interceptors[Number(/\d+$/.exec(id)![0])];
  const applies = (turn: Turn) => [undefined, tool].includes(planOf(turn).when);
  const isActive = ({ id }: Turn) => known.find(one => one.id === id)!.mode.value === 'active';
  const isChanged = order.some(
    turn => turn.step === 'mutators' && planOf(turn).acts && applies(turn) && isActive(turn),
  );
  return order.filter(turn => {
    expect(turn.skippedIf?.includes('the condition does not hold') ?? false).toBe(
      planOf(turn).when !== undefined,
    );
    const onlyIfChanged = turn.skippedIf?.startsWith('no mutator changed the payload') ?? false;
    return applies(turn) && (isChanged || !onlyIfChanged);
  });
}

/** Validators that follow each other run side by side: one with a condition begins later. */
function ordered(turns: readonly string[], { interceptors }: AppPlan): string[] {
  const groups: string[][] = [];
  let previous = '';
  for (const turn of turns) {
    const isValidator = interceptors[Number(/\d+$/.exec(turn)![0])].type === 'validator';
    const group = isValidator ? turn.split(' ', 1)[0] : turn;
    if (group !== previous) groups.push([]);
    groups.at(-1)!.push(turn);
    previous = group;
  }
  return groups.flatMap(group => group.sort());
}

/** The server itself says the same to a call. */
async function expectRefusal(
  app: ExploredApp,
  name: string,
  token: string | undefined,
  by: string,
  names: readonly string[],
): Promise<void> {
  const { status, headers } = await app.post(
    '/mcp',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name,
        arguments: { text: 'go' },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    },
    {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  );
  expect([status, by]).toEqual(token === undefined ? [401, 'token'] : [403, 'scope']);
  const challenge = String(headers['www-authenticate']);
  for (const scope of names) expect(challenge).toMatch(new RegExp(`scope="[^"]*\\b${scope}\\b`));
}
