import type { Chain } from '../../interceptors/chain/chain.js';
import { namesOf, type InterceptorOverride, type PreparedEntry } from '../../interceptors/chain/entry.js';
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from '../../interceptors/chain/params.js';
import type { Selection } from '../../interceptors/chain/selection.js';
import { EVENTS } from './hooks.js';
import { stagesOf } from './methods.js';
import type { MergedChain } from '../../interceptors/merged-chain.js';
import { isServed } from '../../interceptors/messages/payload-check.js';
import type { RemoteHost } from '../../interceptors/remote/remote-host.js';
import type { InterceptorLoader } from '../../module/interceptor-loader.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { defined } from '../../util/defined.js';
import type {
  ChainHost,
  ChainInterceptor,
  ChainPhase,
  Chains,
  ChainTurn,
  Origin,
  ServerChain,
  Sourced,
} from '../api.js';
import type { TurnCounters } from '../record/turn-counters.js';

/** How long remote hosts may take to be listed, in milliseconds: the page shows what is known by then. */
const HOSTS_MS = 1000;

const PHASES = ['request', 'response'] as const;

/** The layers of a policy, as `InterceptorLoader` makes them. */
const LAYERS: readonly Origin[] = ['override', 'policy file'];

/** The chains of all servers, as they would run now. */
export async function chainsOf(
  servers: readonly McpServerInstance[],
  loader: InterceptorLoader,
  counters: TurnCounters,
): Promise<Chains> {
  const chains = servers.map(async server =>
    serverChain(server, await loader.chainOf(server.options), counters),
  );
  return { servers: await Promise.all(chains) };
}

const idOf = ({ host, name }: Pick<PreparedEntry, 'host' | 'name'>): string => `${host}/${name}`;

/** The chain of messages without a caller; undefined while a host cannot be listed. */
export async function currentChain(source: MergedChain): Promise<Chain | undefined> {
  try {
    return (await source.current(undefined, undefined, HOSTS_MS)).chain;
  } catch {
    return undefined;
  }
}

async function serverChain(
  server: McpServerInstance,
  source: MergedChain,
  counters: TurnCounters,
): Promise<ServerChain> {
  const { name, interceptors } = server.options;
  const chain = await currentChain(source);
  const entries = chain?.entries ?? [];
  return {
    server: name,
    interceptors: entries.map(entry => interceptorOf(entry, source, name, counters)),
    phases: chain && interceptors.apply ? phasesOf(chain) : [],
    hosts: source.hosts.map(hostOf),
    stages: stagesOf(server),
  };
}

function interceptorOf(
  entry: PreparedEntry,
  source: MergedChain,
  server: string,
  counters: TurnCounters,
): ChainInterceptor {
  const { name, host, type, descriptor, traits, compat } = entry;
  const overriding = overriderOf(entry, source);
  const sourced = <T>(value: T, field: keyof InterceptorOverride, declared: unknown): Sourced<T> => ({
    value,
    from: overriding(field) ?? (declared === undefined ? 'default' : 'declared'),
  });
  const timeoutMs = Math.min(entry.timeoutMs ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
  return {
    id: idOf(entry),
    name,
    host,
    type,
    ...defined({ description: descriptor.description }),
    // A descriptor always has a mode.
    mode: sourced(entry.mode, 'mode', descriptor.mode === 'active' ? undefined : descriptor.mode),
    ...(type !== 'sink' && { failOpen: sourced(entry.failOpen, 'failOpen', descriptor.failOpen) }),
    priority: sourced(entry.priority, 'priority', descriptor.priorityHint),
    timeoutMs: sourced(timeoutMs, 'timeoutMs', traits.timeoutMs),
    hooks: sourced(entry.hooks, 'hooks', descriptor.hooks),
    ...(entry.when && { when: sourced(whenOf(entry), 'when', traits.when) }),
    ...(entry.config && { config: configOrigin(entry, source, overriding) }),
    ...(traits.final && { final: traits.final === 'only' ? ('only' as const) : ('final' as const) }),
    ...(compat && { compat: compatOf(compat) }),
    counters: counters.of(server, entry),
  };
}

type Overrider = (field: keyof InterceptorOverride) => Origin | undefined;

/** The last layer of the policy that says something wins. */
function overriderOf(entry: PreparedEntry, { policy }: MergedChain): Overrider {
  const names = namesOf(entry);
  return field => {
    const index = policy.overrides.findLastIndex(layer =>
      names.some(name => Object.hasOwn(layer, name) && layer[name][field] !== undefined),
    );
    return LAYERS[index];
  };
}

/** A `config` of the policy wins over that of an override. */
function configOrigin(entry: PreparedEntry, { policy }: MergedChain, overriding: Overrider): Origin {
  const name = entry.configNames.findLast(one => policy.config.some(layer => Object.hasOwn(layer, one)));
  const index = name === undefined ? -1 : policy.config.findLastIndex(layer => Object.hasOwn(layer, name));
  return LAYERS[index] ?? overriding('config') ?? 'declared';
}

/** Both conditions have to hold. */
function whenOf({ traits, overrides }: PreparedEntry): string {
  const parts = [overrides?.when, traits.when].filter(part => part !== undefined);
  return parts.map(part => (typeof part === 'function' ? 'predicate' : JSON.stringify(part))).join(' and ');
}

const compatOf = ({ minProtocol, maxProtocol }: { minProtocol: string; maxProtocol?: string }): string =>
  maxProtocol === undefined ? `${minProtocol} and later` : `${minProtocol} to ${maxProtocol}`;

/** The known events, and the application's custom events that a hook names. */
function phasesOf(chain: Chain): ChainPhase[] {
  const named = chain.entries.flatMap(({ hooks }) => hooks.flatMap(({ events }) => events));
  const events = new Set([...EVENTS, ...named.filter(event => !event.endsWith('*'))]);
  return [...events].flatMap(event =>
    PHASES.filter(phase => chain.hooks(event, phase)).map((phase): ChainPhase => {
      const direction = isServed(event) === (phase === 'request') ? 'receive' : 'send';
      return { event, phase, direction, order: orderOf(chain.hooked(event)[phase], direction) };
    }),
  );
}

/** As a run of the chain takes them. */
function orderOf(
  { validators, finals, onlyFinals, mutators, sinks }: Selection,
  direction: ChainPhase['direction'],
): ChainTurn[] {
  const turns = (step: ChainTurn['step'], entries: readonly PreparedEntry[], because?: string) =>
    entries.map(entry => {
      const skippedIf = [because, skippedIfOf(entry)].filter(reason => reason !== undefined).join('; ');
      return { id: idOf(entry), step, ...(skippedIf !== '' && { skippedIf }) };
    });
  const ends = turns('sinks', sinks);
  if (direction === 'send') {
    return [...turns('mutators', mutators), ...turns('validators', [...validators, ...onlyFinals]), ...ends];
  }
  const again = finals.flatMap(entry =>
    turns(
      'final validators',
      [entry],
      onlyFinals.includes(entry) ? undefined : 'no mutator changed the payload',
    ),
  );
  return [...turns('validators', validators), ...turns('mutators', mutators), ...again, ...ends];
}

function skippedIfOf(entry: PreparedEntry): string | undefined {
  const reasons = [
    entry.when && `the condition does not hold: ${whenOf(entry)}`,
    entry.compat && `the revision is not ${compatOf(entry.compat)}`,
  ];
  return reasons.filter(reason => reason !== undefined).join('; ') || undefined;
}

function hostOf(host: RemoteHost): ChainHost {
  const { name, breakerState, lastKnown } = host;
  const state = breakerState === 'open' ? 'unreachable' : host.state;
  return { name, state, breaker: breakerState, interceptors: lastKnown.length };
}
